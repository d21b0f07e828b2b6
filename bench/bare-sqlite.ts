import { DatabaseSync } from 'node:sqlite'
import { authors, created, details, type Key, key_text, listed, type Row, serve } from './answers.ts'

// The baseline for Rapport on SQLite: node:http and node:sqlite with prepared statements.

const [file = ''] = process.argv.slice(2)
const pragmas =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY'
const writer = new DatabaseSync(file)
const reader = new DatabaseSync(file)
for (const connection of [writer, reader]) connection.exec(pragmas)

// A trigram index, as a server of few lines would have it. It replaces Rapport's index, which Rapport itself writes.
const is_prepared = !writer.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'contacts_block_insert'").get()
if (!is_prepared)
  writer.exec(`
  DROP TRIGGER contacts_block_insert;
  DROP TRIGGER contacts_search_insert;
  DROP TABLE contacts_search;
  CREATE VIRTUAL TABLE contacts_search USING fts5 (search_text, content='contacts', content_rowid='id', tokenize='trigram case_sensitive 1');
  INSERT INTO contacts_search (rowid, search_text) SELECT id, search_text FROM contacts;
  CREATE TRIGGER contacts_search_insert AFTER INSERT ON contacts BEGIN
    INSERT INTO contacts_search (rowid, search_text) VALUES (new.id, new.search_text);
  END;
`)

const joined = `FROM contacts c LEFT JOIN companies k ON k.id = c.company_id AND k.deleted_at IS NULL`
const key = reader.prepare(key_text).get() as Key
const one_text = `SELECT ${listed}, ${details} ${joined} ${authors} WHERE c.workspace_id = 1 AND c.id = ? AND c.deleted_at IS NULL`
const one = reader.prepare(one_text)
const oneWritten = writer.prepare(one_text)
const newest = (where: string) =>
  `SELECT ${listed} ${joined} WHERE c.id IN (SELECT id FROM contacts WHERE workspace_id = 1 AND deleted_at IS NULL ${where}) ORDER BY c.id DESC`
const page = reader.prepare(newest('ORDER BY id DESC LIMIT 25 OFFSET ?'))
const ofCompany = reader.prepare(newest('AND company_id = ? ORDER BY id DESC LIMIT 25'))
const totalOfCompany = reader.prepare(
  'SELECT count(*) AS n FROM contacts WHERE workspace_id = 1 AND deleted_at IS NULL AND company_id = ?',
)
const total = reader.prepare("SELECT n FROM record_counts WHERE workspace_id = 1 AND name = 'contacts'")
const matches = reader.prepare(
  'SELECT rowid AS id FROM contacts_search WHERE contacts_search MATCH ? ORDER BY rowid DESC LIMIT 2001',
)
const found = reader.prepare(
  `SELECT ${listed} ${joined} WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id DESC`,
)
const insert = writer.prepare(
  'INSERT INTO contacts (workspace_id, first_name, last_name, email, search_text, sort_name, created_at, updated_at, created_by, updated_by) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
)
const update = writer.prepare(
  'UPDATE contacts SET phone = ?, updated_at = ?, updated_by = ? WHERE id = ? AND workspace_id = 1 AND deleted_at IS NULL',
)

// Writes that arrive in one turn of the event loop share a commit, as in Rapport.
let waiting: { write: () => Row; answer: (row: Row) => void }[] = []
function commit() {
  const group = waiting
  waiting = []
  writer.exec('BEGIN IMMEDIATE')
  const rows = group.map(({ write }) => write())
  writer.exec('COMMIT')
  for (const [index, { answer }] of group.entries()) answer(rows[index] as Row)
}
function inGroup(answer: (row: Row) => void, write: () => Row) {
  if (!waiting.length) setImmediate(commit)
  waiting.push({ write, answer })
}

serve({
  one: (id, answer) => answer(one.get(id) as Row),
  page: (offset, answer) => answer(page.all(offset) as Row[], Number(total.get()?.n)),
  ofCompany: (id, answer) => answer(ofCompany.all(id) as Row[], Number(totalOfCompany.get(id)?.n)),
  search(word, answer) {
    const ids = matches.all(`"${word}"`).map((row) => row.id)
    answer(found.all(JSON.stringify(ids.slice(0, 25))) as Row[], ids.length)
  },
  create: ({ first_name, last_name, email }, answer) =>
    inGroup(answer, () => {
      const now = new Date().toISOString()
      const text = `${first_name}\n${last_name}\n${email}`.toLowerCase()
      const name = `${last_name} ${first_name}`.toLowerCase()
      const made = insert.run(first_name, last_name, email, text, name, now, now, key.id, key.id)
      const id = Number(made.lastInsertRowid)
      return created(key, { id, first_name, last_name, email, created_at: now, updated_at: now })
    }),
  update: (id, { phone }, answer) =>
    inGroup(answer, () => {
      update.run(phone, new Date().toISOString(), key.id, id)
      return oneWritten.get(id) as Row
    }),
})
