import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Watch } from './watch.ts'

/** The longest token in characters. The search finds a longer word by two tokens, and then checks the text. */
export const token_length = 8

/** A rowid of the index has the id of the contact in its lower 40 bits, and the workspace above. */
export const id_bits = 40

/**
 * The tokens of a text: at each character of each word, the next 8 characters of the word. So each part of a word is the
 * beginning of a token.
 */
export function searchTokens(text: string): string {
  let tokens = ''
  for (const word of text.split(/\s+/))
    if (hasSurrogates.test(word)) {
      const characters = [...word]
      for (let at = 0; at < characters.length; at++)
        tokens += `${characters.slice(at, at + token_length).join('')} `
    } else for (let at = 0; at < word.length; at++) tokens += `${word.slice(at, at + token_length)} `
  return tokens
}
const hasSurrogates = /[\ud800-\udfff]/

// 200 contacts take about 10 ms.
const max_contacts_at_once = 200

type Change = { workspace_id: number; id: number; is_indexed: number; search_text: string | null }
type Statements = Record<'changes' | 'remove' | 'add' | 'forget' | 'clear', StatementSync>

const texts = {
  changes: `SELECT h.workspace_id, h.id, h.is_indexed, c.search_text FROM contacts_search_changes AS h
    LEFT JOIN contacts AS c ON c.id = h.id AND c.deleted_at IS NULL
    ORDER BY h.workspace_id, h.id LIMIT ${max_contacts_at_once}`,
  remove: `DELETE FROM contacts_search WHERE rowid = (CAST(? AS INTEGER) << ${id_bits}) + CAST(? AS INTEGER)`,
  add: `INSERT INTO contacts_search (rowid, tokens) VALUES ((CAST(? AS INTEGER) << ${id_bits}) + CAST(? AS INTEGER), ?)`,
  forget: 'DELETE FROM contacts_search_changes WHERE (workspace_id, id) <= (?, ?)',
  // Without a condition, SQLite needs no list of the rows.
  clear: 'DELETE FROM contacts_search_changes',
} satisfies Record<keyof Statements, string>

/**
 * Keeps the search index. Triggers list the changed contacts in contacts_search_changes. Before a group commits, their
 * tokens are written together: FTS5 flushes its index at every savepoint, which would cost more than the tokens. A member
 * that is rolled back takes its contacts from the list.
 */
export function createSearchIndex(writer: DatabaseSync, watch: Watch) {
  let statements: Statements | undefined
  const hasList = writer.prepare(
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'contacts_search_changes'",
  )
  // The list does not exist before its migration.
  function prepared(): Statements | undefined {
    if (!statements && hasList.get())
      statements = Object.fromEntries(
        Object.entries(texts).map(([name, text]) => [name, writer.prepare(text)]),
      ) as Statements
    return statements
  }

  return {
    /** Indexes at most 200 of the listed contacts. True when the list is empty. */
    catchUp(): boolean {
      const { changes, remove, add, forget, clear } = prepared() ?? {}
      if (!changes || !remove || !add || !forget || !clear) return true
      const rows = changes.all() as Change[]
      const last = rows.at(-1)
      if (!last) return true
      const run = (name: keyof Statements, statement: StatementSync, ...values: unknown[]) =>
        watch.run(texts[name], statement, values)
      // In the order of the rowids, and removals first: FTS5 flushes when a rowid is not above the one before.
      for (const { workspace_id, id, is_indexed } of rows)
        if (is_indexed) run('remove', remove, workspace_id, id)
      for (const { workspace_id, id, search_text } of rows)
        if (search_text !== null) run('add', add, workspace_id, id, searchTokens(search_text))
      const are_all = rows.length < max_contacts_at_once
      if (are_all) run('clear', clear)
      else run('forget', forget, last.workspace_id, last.id)
      return are_all
    },
  }
}
export type SearchIndex = ReturnType<typeof createSearchIndex>
