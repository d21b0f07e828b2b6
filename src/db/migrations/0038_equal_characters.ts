import { type RawBuilder, sql } from 'kysely'
import type { Migration } from '../migrate.ts'
import type { Tx } from '../tx.ts'
import { cut } from './0037_baseline.ts'

/**
 * The searched and sorted texts of records, with one form for all kinds of apostrophes, quotation marks, dashes and ligatures.
 * Older processes write the other forms, which a search of this version does not find.
 */
export const equalCharacters: Migration = {
  name: '0038_equal_characters',
  kind: 'contract',
  scans: ['contacts', 'companies', 'deals', 'activities', 'appointments'],
  statements: () => [],
  fill: async (tx, { engine }) => {
    const definitions = await textDefinitions(tx)
    for (const [table, { sort, search = [] }] of Object.entries(tables))
      for await (const rows of pagesOf(tx, engine, table, [...new Set([...sort, ...search])])) {
        await setTexts(tx, table, 'sort_name', rows, ({ texts }) => sortName(sort, texts))
        if (search.length)
          await setTexts(tx, table, 'search_text', rows, ({ texts }) => searchText(search, texts))
        await setValues(tx, rows, (workspace_id) => definitions.get(`${workspace_id} ${table}`) ?? [])
      }
  },
}

// The fields of the texts by which records are sorted and searched.
const tables: Record<string, { sort: string[]; search?: string[] }> = {
  contacts: { sort: ['last_name', 'first_name'], search: ['first_name', 'last_name', 'email'] },
  companies: { sort: ['name'] },
  deals: { sort: ['name'] },
  activities: { sort: ['subject'] },
  appointments: { sort: ['title'] },
}

type Texts = Record<string, string | null>
type Row = {
  workspace_id: number
  id: number
  deleted_at: string | null
  custom_fields: string
  texts: Texts
}

const rows_at_once = 1000

/** The rows with a character that the new form may change, those in the trash too, in the order of the engine's own key. */
async function* pagesOf(
  tx: Tx,
  engine: 'sqlite' | 'postgres',
  table: string,
  fields: string[],
): AsyncGenerator<Row[]> {
  const shown = fields.map((field) => sql.ref(field))
  const all = sql.join(
    [...shown, sql`custom_fields`].map((text) => sql`coalesce(${text}, '')`),
    sql` || `,
  )
  // ASCII without the grave accent.
  const is_other =
    engine === 'sqlite' ? sql`(${all}) GLOB '*[^ -_a-~]*'` : sql`(${all}) COLLATE "C" ~ '[^ -_a-~]'`
  let last = { workspace_id: 0, id: 0 }
  for (;;) {
    const [beyond, order] =
      engine === 'sqlite'
        ? [sql`id > ${last.id}`, sql`id`]
        : [sql`(workspace_id, id) > (${last.workspace_id}, ${last.id})`, sql`workspace_id, id`]
    const { rows } = await sql<Omit<Row, 'texts'> & Texts>`
      SELECT workspace_id, id, deleted_at, custom_fields, ${sql.join(shown)} FROM ${sql.table(table)}
      WHERE ${beyond} AND ${is_other} ORDER BY ${order} LIMIT ${rows_at_once}`.execute(tx)
    const end = rows.at(-1)
    if (!end) return
    yield rows.map((row) => ({ ...row, texts: row }))
    last = end
  }
}

const sortName = (fields: string[], texts: Texts) =>
  fields.map((field) => cut(normalised(texts[field] ?? ''))).join('\n')
const searchText = (fields: string[], texts: Texts) =>
  normalised(fields.map((field) => texts[field] ?? '').join('\n'))

/** Writes a text of each row where it differs. */
async function setTexts(
  tx: Tx,
  table: string,
  column: 'sort_name' | 'search_text',
  rows: Row[],
  textOf: (row: Row) => string,
): Promise<void> {
  const texts = rows.map((row) => numbersAnd(textOf(row), row.workspace_id, row.id))
  const [text, r] = [sql.ref(column), sql.ref(`t.${column}`)]
  await sql`UPDATE ${sql.table(table)} AS t SET ${text} = r.column3 FROM (VALUES ${sql.join(texts)}) AS r
    WHERE t.workspace_id = r.column1 AND t.id = r.column2 AND ${r} <> r.column3`.execute(tx)
}

/** A row of VALUES. PostgreSQL would take its parameters for texts. */
const numbersAnd = (text: string, ...numbers: number[]): RawBuilder<unknown> =>
  sql`(${sql.join(numbers.map((one) => sql`CAST(${one} AS bigint)`))}, CAST(${text} AS text))`

type Definition = { id: number; key: string }

/** The definitions of custom fields that are texts, by workspace and kind. */
async function textDefinitions(tx: Tx): Promise<Map<string, Definition[]>> {
  const { rows } = await sql<Definition & { workspace_id: number; kind: string }>`
    SELECT workspace_id, kind, id, key FROM field_definitions
    WHERE type IN ('text', 'select', 'url', 'email')`.execute(tx)
  return Map.groupBy(rows, ({ workspace_id, kind }) => `${workspace_id} ${kind}`)
}

// A statement takes at most 32,766 parameters on SQLite.
const max_values = 5000

/** Writes the text by which lists sort a custom field, for each value of live records where it differs. */
async function setValues(tx: Tx, rows: Row[], definitionsOf: (workspace_id: number) => Definition[]) {
  const values = rows.flatMap(({ workspace_id, id, deleted_at, custom_fields }) => {
    const definitions = deleted_at === null ? definitionsOf(workspace_id) : []
    if (!definitions.length) return []
    const fields: Record<string, unknown> = JSON.parse(custom_fields)
    return definitions.flatMap((one) => {
      const value = Object.hasOwn(fields, one.key) ? fields[one.key] : undefined
      return typeof value === 'string' ? [numbersAnd(cut(normalised(value)), workspace_id, one.id, id)] : []
    })
  })
  for (let from = 0; from < values.length; from += max_values)
    await sql`UPDATE defined_values AS t SET sort_value = r.column4
      FROM (VALUES ${sql.join(values.slice(from, from + max_values))}) AS r
      WHERE t.workspace_id = r.column1 AND t.definition_id = r.column2 AND t.record_id = r.column3
        AND t.sort_value <> r.column4`.execute(tx)
}

// A copy of db/lists/normalise.ts as it was released with this migration.

const letters: Record<string, string> = {
  a: 'ꞛꟁ',
  aa: 'ꜳ',
  ae: 'æ',
  ao: 'ꜵ',
  au: 'ꜷ',
  av: 'ꜹꜻ',
  ay: 'ꜽ',
  d: 'đðꝺ',
  db: 'ȸ',
  dz: 'ʣ',
  f: 'ꝼ',
  g: 'ᵹꞡ',
  h: 'ħ',
  i: 'ı',
  k: 'ꞣ',
  l: 'ł',
  ll: 'ỻ',
  ls: 'ʪ',
  lz: 'ʫ',
  n: 'ꞥ',
  o: 'øꞝ',
  oe: 'œ',
  oo: 'ꝏ',
  qp: 'ȹ',
  r: 'ꝛꞃꞧ',
  s: 'ꞅꞩꟙ',
  ss: 'ß',
  t: 'ŧꞇ',
  th: 'þᵺ',
  ts: 'ƾʦ',
  tz: 'ꜩ',
  u: 'ꞟ',
  vy: 'ꝡ',
  w: 'ꟃ',
  zw: 'ƍ',
  σ: 'ς',
}

const signs: Record<string, string> = {
  "'": '‘’‚‛‹›׳`´΄᾽′‵ʹʻʼʽʾʿˈˊˋ՚ߴߵꞌ',
  '"': '“”„‟«»״〝〞〟⹂ʺˮ',
  '-': '‐‑‒–—―−⁓֊־᐀᠆⸗⸚⸺⸻⹀⹝〜〰゠\u{10d6e}\u{10ead}',
}

const ignored = [
  '\\u0300-\\u036f\\u0483-\\u0487\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a\\u0640',
  '\\u064b-\\u0652\\u0656-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06e7\\u06e8\\u06ea-\\u06ed',
  '\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164',
  '\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}',
].join('')

const plain = new Map(
  Object.entries({ ...letters, ...signs }).flatMap(([one, equal]) =>
    [...equal].map((other): [string, string] => [other, one]),
  ),
)
const folded = new RegExp(`[${ignored}${[...plain.keys()].join('')}]`, 'gu')
const spacing_accents = /[´΄᾽\u1ffd]/g

const is_plain = /^[\0-_a-\x7f]*$/

/** Migration 0044 uses it, too. */
export function normalised(text: string): string {
  if (is_plain.test(text)) return text.toLowerCase()
  return text
    .replaceAll(spacing_accents, "'")
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(folded, (character) => plain.get(character) ?? '')
    .normalize('NFC')
}
