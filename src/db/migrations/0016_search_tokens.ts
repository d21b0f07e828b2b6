import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'
import type { Tx } from '../tx.ts'

/**
 * SQLite's search index has the first 8 characters from each character of a word on, instead of trigrams. The lower 40 bits
 * of its rowid are the contact, the upper ones the workspace. Triggers list the changed contacts, and the program writes their
 * tokens at the end of a commit group. PostgreSQL keeps its trigram index.
 */
export const searchTokens: Migration = {
  name: '0016_search_tokens',
  kind: 'contract',
  scans: ['contacts'],
  statements: (engine) => (engine === 'sqlite' ? onSqlite : []),
  fill: async (tx, { engine }) => {
    if (engine === 'sqlite') await fillIndex(tx)
  },
}

// Every printable ASCII character is part of a token. All others above ASCII are anyway.
const signs = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`
const tokenizer = `ascii tokenchars '${signs.replace("'", "''")}'`.replaceAll('"', '""')

const changed = (name: string, event: string, row: 'new' | 'old', is_indexed: 0 | 1) =>
  `CREATE TRIGGER contacts_search_${name} AFTER ${event} BEGIN
    INSERT INTO contacts_search_changes (workspace_id, id, is_indexed) VALUES (${row}.workspace_id, ${row}.id, ${is_indexed})
      ON CONFLICT (workspace_id, id) DO NOTHING;
  END`

const onSqlite = [
  ...['insert', 'change', 'trash', 'restore', 'remove'].map((name) => `DROP TRIGGER contacts_search_${name}`),
  'DROP TABLE contacts_search',
  `CREATE VIRTUAL TABLE contacts_search USING fts5 (
    tokens, content='', contentless_delete=1, detail=none, prefix='1 2', tokenize="${tokenizer}"
  )`,
  // A large transaction would enlarge FTS5's hash table for good, and every commit reads all of its slots. 1 MiB is the default.
  "INSERT INTO contacts_search (contacts_search, rank) VALUES ('hashsize', 131072)",
  // is_indexed: 1 if the index had the contact before its first change in the commit group.
  `CREATE TABLE contacts_search_changes (
    workspace_id INTEGER NOT NULL, id INTEGER NOT NULL, is_indexed INTEGER NOT NULL, PRIMARY KEY (workspace_id, id)
  ) WITHOUT ROWID`,
  changed('insert', 'INSERT ON contacts WHEN new.deleted_at IS NULL', 'new', 0),
  changed(
    'change',
    'UPDATE OF search_text ON contacts WHEN old.deleted_at IS NULL AND new.deleted_at IS NULL AND old.search_text <> new.search_text',
    'old',
    1,
  ),
  changed(
    'trash',
    'UPDATE OF deleted_at ON contacts WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL',
    'old',
    1,
  ),
  changed(
    'restore',
    'UPDATE OF deleted_at ON contacts WHEN old.deleted_at IS NOT NULL AND new.deleted_at IS NULL',
    'new',
    0,
  ),
  changed('remove', 'DELETE ON contacts WHEN old.deleted_at IS NULL', 'old', 1),
]

const contacts_at_once = 1000

type Row = { workspace_id: number; id: number; search_text: string }

// One workspace after the other: SQLite would find a pair of both columns by the first one alone.
async function fillIndex(tx: Tx): Promise<void> {
  const texts = sql`contacts INDEXED BY contacts_search_text WHERE deleted_at IS NULL`
  for (let workspace_id: number | null = 0; workspace_id !== null; ) {
    let last = 0
    for (;;) {
      const { rows } = await sql<Row>`SELECT workspace_id, id, search_text FROM ${texts}
        AND workspace_id = ${workspace_id} AND id > ${last} ORDER BY id LIMIT ${contacts_at_once}`.execute(tx)
      const end = rows.at(-1)
      if (!end) break
      await index(tx, rows)
      last = end.id
    }
    const next: { rows: { id: number | null }[] } = await sql<{ id: number | null }>`
      SELECT min(workspace_id) AS id FROM ${texts} AND workspace_id > ${workspace_id}`.execute(tx)
    workspace_id = next.rows[0]?.id ?? null
  }
}

async function index(tx: Tx, rows: Row[]): Promise<void> {
  const tokens = rows.map(({ workspace_id, id, search_text }) => [workspace_id, id, tokensOf(search_text)])
  await sql`INSERT INTO contacts_search (rowid, tokens)
    SELECT ((value ->> 0) << 40) + (value ->> 1), value ->> 2 FROM json_each(${JSON.stringify(tokens)})`.execute(
    tx,
  )
}

// A copy of db/engines/sqlite/search-index.ts as it was released with this migration.

const token_length = 8

function tokensOf(text: string): string {
  let tokens = ''
  for (const word of text.split(/\s+/))
    if (/[\ud800-\udfff]/.test(word)) {
      const characters = [...word]
      for (let at = 0; at < characters.length; at++)
        tokens += `${characters.slice(at, at + token_length).join('')} `
    } else for (let at = 0; at < word.length; at++) tokens += `${word.slice(at, at + token_length)} `
  return tokens
}
