import { DatabaseSync } from 'node:sqlite'
import { created, details, listed, type Row, type Store, serve } from './answers.ts'

// The baseline for Rapport on SQLite: node:http and node:sqlite with prepared statements.

const [file = ''] = process.argv.slice(2)
const pragmas =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY'
const writer = new DatabaseSync(file)
const reader = new DatabaseSync(file)
for (const connection of [writer, reader]) connection.exec(pragmas)

// A trigram index, as a server of few lines would have it. It replaces Rapport's index, which Rapport itself writes.
writer.exec(`
  DROP TRIGGER contacts_search_insert;
  DROP TABLE contacts_search;
  CREATE VIRTUAL TABLE contacts_search USING fts5 (search_text, content='contacts', content_rowid='id', tokenize='trigram case_sensitive 1');
  INSERT INTO contacts_search (rowid, search_text) SELECT id, search_text FROM contacts;
  CREATE TRIGGER contacts_search_insert AFTER INSERT ON contacts BEGIN
    INSERT INTO contacts_search (rowid, search_text) VALUES (new.id, new.search_text);
  END;
`)

const joined = `FROM contacts c LEFT JOIN companies k ON k.id = c.company_id AND k.deleted_at IS NULL`
const one = reader.prepare(
  `SELECT ${listed}, ${details} ${joined} WHERE c.workspace_id = 1 AND c.id = ? AND c.deleted_at IS NULL`,
)
const page = reader.prepare(
  `SELECT ${listed} ${joined} WHERE c.id IN (SELECT id FROM contacts WHERE workspace_id = 1 AND deleted_at IS NULL ORDER BY id DESC LIMIT 25) ORDER BY c.id DESC`,
)
const total = reader.prepare("SELECT n FROM record_counts WHERE workspace_id = 1 AND name = 'contacts'")
const matches = reader.prepare(
  'SELECT rowid AS id FROM contacts_search WHERE contacts_search MATCH ? ORDER BY rowid DESC LIMIT 2001',
)
const found = reader.prepare(
  `SELECT ${listed} ${joined} WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id DESC`,
)
const insert = writer.prepare(
  'INSERT INTO contacts (workspace_id, first_name, last_name, email, search_text, created_at, updated_at) VALUES (1, ?, ?, ?, ?, ?, ?)',
)
const count = writer.prepare(
  "UPDATE record_counts SET n = n + 1 WHERE workspace_id = 1 AND name = 'contacts'",
)

// Creates that arrive in one turn of the event loop share a commit, as in Rapport.
let waiting: Parameters<Store['create']>[] = []
function commit() {
  const group = waiting
  waiting = []
  writer.exec('BEGIN IMMEDIATE')
  const rows = group.map(([{ first_name, last_name, email }]) => {
    const now = new Date().toISOString()
    const text = `${first_name}\n${last_name}\n${email}`.toLowerCase()
    const { lastInsertRowid } = insert.run(first_name, last_name, email, text, now, now)
    count.run()
    const id = Number(lastInsertRowid)
    return created({ id, first_name, last_name, email, created_at: now, updated_at: now })
  })
  writer.exec('COMMIT')
  for (const [index, [, answer]] of group.entries()) answer(rows[index] as Row)
}

serve({
  one: (id, answer) => answer(one.get(id) as Row),
  page: (answer) => answer(page.all() as Row[], Number(total.get()?.n)),
  search(word, answer) {
    const ids = matches.all(`"${word}"`).map((row) => row.id)
    answer(found.all(JSON.stringify(ids.slice(0, 25))) as Row[], ids.length)
  },
  create(...asked) {
    if (!waiting.length) setImmediate(commit)
    waiting.push(asked)
  },
})
