import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'
import type { Tx } from '../tx.ts'
import { cut } from './0037_baseline.ts'
import { normalised } from './0038_equal_characters.ts'

/**
 * The keys by which e-mail addresses, telephone numbers and websites are compared, and one form for the sorted names, tags and
 * custom fields that are the same. Older processes write no keys, so this version would not find their records.
 */
export const sameTexts: Migration = {
  name: '0044_same_texts',
  kind: 'contract',
  scans: ['contacts', 'companies', 'deals', 'activities', 'appointments'],
  statements: (engine) => {
    const type = engine === 'sqlite' ? 'text' : 'text COLLATE "C"'
    return Object.entries(tables).flatMap(([table, { keys = {} }]) =>
      Object.keys(keys).map((field) => `ALTER TABLE ${table} ADD COLUMN ${field}_key ${type}`),
    )
  },
  fill: async (tx, { engine }) => {
    const definitions = await definitionsByKind(tx)
    for (const [table, { sort, keys = {} }] of Object.entries(tables))
      for await (const rows of pagesOf(tx, engine, table, sort, Object.keys(keys))) {
        const fields = Object.entries(keys)
        await setTexts(
          tx,
          table,
          fields.map(([field]) => `${field}_key`),
          rows.map((row) => [
            row,
            ...fields.map(([field, keyOf]) => (row[field] && keyOf(row[field])) || null),
          ]),
        )
        const renamed = rows.filter((row) => sort.some((field) => isOdd(row[field] ?? '')))
        await setTexts(
          tx,
          table,
          ['sort_name'],
          renamed.map((row) => [row, sortName(sort.map((field) => row[field]))]),
        )
        for (const row of rows.filter(hasOddValues))
          await setValues(tx, table, row, definitions.get(`${row.workspace_id} ${table}`))
      }
  },
}

type KeyOf = (value: string) => string
const tables: Record<string, { sort: string[]; keys?: Record<string, KeyOf> }> = {
  contacts: {
    sort: ['last_name', 'first_name'],
    keys: { email: emailKey, phone: phoneKey, mobile: phoneKey },
  },
  companies: { sort: ['name'], keys: { website: websiteKey, phone: phoneKey } },
  deals: { sort: ['name'] },
  activities: { sort: ['subject'] },
  appointments: { sort: ['title'] },
}

type Row = Record<string, string | null> & { workspace_id: never; id: never }

const rows_at_once = 1000

/** The rows with a value that has a key, or with a text that may have another form, those in the trash too. */
async function* pagesOf(
  tx: Tx,
  engine: 'sqlite' | 'postgres',
  table: string,
  sort: string[],
  keyed: string[],
): AsyncGenerator<Row[]> {
  const fields = [...new Set([...sort, ...keyed])].map((field) => sql.ref(field))
  const all = sql.join(
    [...sort.map((field) => sql.ref(field)), sql`tags`, sql`custom_fields`].map(
      (text) => sql`coalesce(${text}, '')`,
    ),
    sql` || `,
  )
  // Not ASCII, or a backslash, which JSON writes for control characters.
  const is_other =
    engine === 'sqlite' ? sql`(${all}) GLOB '*[^] -[^-~]*'` : sql`(${all}) COLLATE "C" ~ '[^] -[^-~]'`
  const has_blanks = sql`(${all}) LIKE '%  %' OR (${all}) LIKE '%" %' OR (${all}) LIKE '% "%'`
  const is_odd = sql`(${is_other} OR ${has_blanks})`
  const chosen = sql.join([is_odd, ...keyed.map((field) => sql`${sql.ref(field)} IS NOT NULL`)], sql` OR `)
  let last = { workspace_id: 0, id: 0 }
  for (;;) {
    const [beyond, order] =
      engine === 'sqlite'
        ? [sql`id > ${last.id}`, sql`id`]
        : [sql`(workspace_id, id) > (${last.workspace_id}, ${last.id})`, sql`workspace_id, id`]
    const { rows } = await sql<Row>`
      SELECT workspace_id, id, tags, custom_fields, ${sql.join(fields)} FROM ${sql.table(table)}
      WHERE ${beyond} AND (${chosen}) ORDER BY ${order} LIMIT ${rows_at_once}`.execute(tx)
    const end = rows.at(-1)
    if (!end) return
    yield rows
    last = end
  }
}

/** Writes texts of rows, which come with the values of the columns. */
async function setTexts(
  tx: Tx,
  table: string,
  columns: string[],
  rows: [Row, ...(string | null)[]][],
): Promise<void> {
  if (!columns.length || !rows.length) return
  const json = JSON.stringify(rows.map(([{ workspace_id, id }, ...texts]) => [workspace_id, id, ...texts]))
  const given =
    tx.engine === 'sqlite'
      ? sql`json_each(${json}) AS r`
      : sql`jsonb_array_elements(CAST(${json} AS jsonb)) AS r(value)`
  const set = columns.map((column, n) => sql`${sql.ref(column)} = r.value ->> ${sql.lit(n + 2)}`)
  await sql`UPDATE ${sql.table(table)} AS t SET ${sql.join(set)} FROM ${given}
    WHERE t.workspace_id = CAST(r.value ->> 0 AS bigint) AND t.id = CAST(r.value ->> 1 AS bigint)`.execute(tx)
}

/** Whether a text has another form. */
const isOdd = (text: string) => sameText(text) !== text
// JSON writes control characters with a backslash.
const hasOddValues = ({ tags, custom_fields }: Row) =>
  [tags ?? '', custom_fields ?? ''].some((json) => isOdd(json) || /\\|" | "/.test(json))

const sortName = (texts: (string | null | undefined)[]) =>
  texts.map((text) => cut(normalised(sameText(text ?? '')))).join('\n')

type Definition = { id: number; key: string; type: string }

/** The definitions of custom fields that are texts, by workspace and kind. */
async function definitionsByKind(tx: Tx): Promise<Map<string, Definition[]>> {
  const { rows } = await sql<Definition & { workspace_id: number; kind: string }>`
    SELECT workspace_id, kind, id, key, type FROM field_definitions
    WHERE type IN ('text', 'select', 'url', 'email')`.execute(tx)
  return Map.groupBy(rows, ({ workspace_id, kind }) => `${workspace_id} ${kind}`)
}

/** Writes the index entries of a row's tags and custom fields whose texts have another form. */
async function setValues(tx: Tx, table: string, row: Row, definitions: Definition[] = []): Promise<void> {
  const { workspace_id, id } = row
  const fields: [string, unknown][] = Object.entries(JSON.parse(row.custom_fields ?? '{}'))
  const tags: string[] = JSON.parse(row.tags ?? '[]')
  const texts = fields.flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' ? [[key, value]] : [],
  )
  const pairs = [
    ...tags.map((tag) => ['tags', tag] as const),
    ...texts.map(([key, value]) => [`custom_fields.${key}`, value] as const),
  ]
  const kept = new Set(pairs.map(([field, text]) => `${field} ${indexed(sameText(text))}`))
  for (const [field, text] of pairs) {
    const [old, current] = [indexed(text), indexed(sameText(text))]
    if (old === current) continue
    const place = sql`workspace_id = ${workspace_id} AND kind = ${table} AND field = ${field} AND record_id = ${id}`
    const added = await sql<object>`INSERT INTO field_values (workspace_id, kind, field, value, record_id)
      SELECT workspace_id, kind, field, CAST(${current} AS text), record_id FROM field_values WHERE ${place} AND value = ${old}
      ON CONFLICT DO NOTHING`.execute(tx)
    if (added && !kept.has(`${field} ${old}`))
      await sql`DELETE FROM field_values WHERE ${place} AND value = ${old}`.execute(tx)
  }
  for (const [key, value] of texts) {
    const definition = definitions.find((one) => one.key === key)
    if (definition) await setDefined(tx, row, definition, value)
  }
}

const indexed = (text: string) => text.slice(0, 100).toWellFormed()

/** Writes the texts by which lists sort a custom field and by which it is unique. Of two equal values, one keeps its old text. */
async function setDefined(tx: Tx, { workspace_id, id }: Row, definition: Definition, value: string) {
  const of_field = sql`workspace_id = ${workspace_id} AND definition_id = ${definition.id}`
  const sort_value = sortName([value])
  await sql`UPDATE defined_values SET sort_value = ${sort_value}
    WHERE ${of_field} AND record_id = ${id} AND sort_value <> ${sort_value}`.execute(tx)
  const key = definition.type === 'email' ? emailKey(value) : sameText(value)
  const unique_value = await shortened(key)
  await sql`UPDATE defined_values SET unique_value = ${unique_value}
    WHERE ${of_field} AND record_id = ${id} AND unique_value IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM defined_values WHERE ${of_field} AND unique_value = ${unique_value})`.execute(
    tx,
  )
}

/** A longer text does not fit into an index entry. */
export async function shortened(key: string): Promise<string> {
  if (key.length <= 100) return key
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key))
  return `#${Buffer.from(digest).toString('hex')}`
}

// A copy of db/lists/same-text.ts as it was released with this migration.

const is_plain = /^[!-~]+(?: [!-~]+)*$/
const is_ascii = /^[\0-\x7f]*$/
const unseen = new RegExp(
  [
    '[\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164',
    '\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\ufeff]',
  ].join(''),
  'gu',
)

export function sameText(text: string): string {
  if (is_plain.test(text)) return text
  return text.replaceAll(unseen, '').normalize('NFC').replaceAll(/\s+/g, ' ').trim()
}

const lowerCased = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
const domainKey = (domain: string) =>
  (is_ascii.test(domain) ? null : URL.parse(`http://${domain}`)?.host) || domain.toLowerCase()

export function emailKey(email: string): string {
  const text = sameText(email)
  const at = text.lastIndexOf('@') + 1
  return lowerCased(text.slice(0, at)) + domainKey(text.slice(at))
}

function phoneKey(phone: string): string {
  return phone
    .normalize('NFKC')
    .replaceAll(unseen, '')
    .replaceAll(/[\s\p{Z}\p{Pd}\u2212./]/gu, '')
    .replace(/^(\(?(?:\+|00)\d{1,3}\)?)\(0\)/, '$1')
    .replaceAll(/[()]/g, '')
    .replace(/^00/, '')
    .replaceAll('+', '')
}

function websiteKey(website: string): string {
  const [, , host = '', rest = ''] =
    /^(https?:\/\/)?(?:www\.(?=[^/?#]+\.))?([^/?#]*)(.*)$/is.exec(sameText(website)) ?? []
  return (domainKey(host) + lowerCased(rest)).replace(/\/$/, '')
}
