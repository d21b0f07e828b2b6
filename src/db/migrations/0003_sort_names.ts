import { sql } from 'kysely'
import type { Filling, Migration } from '../migrate.ts'
import type { Tx } from '../tx.ts'

const tables = ['companies', 'contacts', 'deals'] as const
type Table = (typeof tables)[number]

/** Indexed columns and rows for names as lists sort them, and for each tag and custom field. */
export const sortNames: Migration = {
  name: '0003_sort_names',
  kind: 'contract',
  statements: (engine) => {
    const sqlite = engine === 'sqlite'
    const bytewise = sqlite ? '' : ' COLLATE "C"'
    return [
      ...tables.map(
        (table) => `ALTER TABLE ${table} ADD COLUMN sort_name text${bytewise} NOT NULL DEFAULT ''`,
      ),
      `CREATE TABLE field_values (
        workspace_id bigint NOT NULL, kind text NOT NULL, field text NOT NULL, value text NOT NULL, record_id bigint NOT NULL,
        PRIMARY KEY (workspace_id, kind, field, value, record_id)
      )${sqlite ? ' WITHOUT ROWID' : ''}`,
    ]
  },
  fill: async (tx, { engine }) => {
    for (const table of tables)
      for await (const rows of pagesOf(tx, engine, table)) {
        await setNames(tx, table, rows)
        await addValues(tx, table, rows)
      }
  },
}

type Row = { workspace_id: number; id: number } & Partial<
  Record<'name' | 'first_name' | 'last_name' | 'tags' | 'custom_fields', string>
>

const read: Record<Table, string[]> = {
  companies: ['name', 'custom_fields'],
  contacts: ['first_name', 'last_name', 'tags', 'custom_fields'],
  deals: ['name'],
}

// All rows, those in the trash too, in the order of the engine's own key.
async function* pagesOf(tx: Tx, engine: Filling['engine'], table: Table): AsyncGenerator<Row[]> {
  const names = sql.join(['workspace_id', 'id', ...read[table]].map((name) => sql.ref(name)))
  let last = { workspace_id: 0, id: 0 }
  for (;;) {
    const [beyond, order] =
      engine === 'sqlite'
        ? [sql`id > ${last.id}`, sql`id`]
        : [sql`(workspace_id, id) > (${last.workspace_id}, ${last.id})`, sql`workspace_id, id`]
    const { rows } = await sql<Row>`
      SELECT ${names} FROM ${sql.table(table)} WHERE ${beyond} ORDER BY ${order} LIMIT 1000`.execute(tx)
    const end = rows.at(-1)
    if (!end) return
    yield rows
    last = end
  }
}

async function setNames(tx: Tx, table: Table, rows: Row[]): Promise<void> {
  const named = rows.map(
    (row) =>
      sql`(CAST(${row.workspace_id} AS bigint), CAST(${row.id} AS bigint), CAST(${nameOf(table, row)} AS text))`,
  )
  await sql`
    UPDATE ${sql.table(table)} AS t SET sort_name = r.column3 FROM (VALUES ${sql.join(named)}) AS r
    WHERE t.workspace_id = r.column1 AND t.id = r.column2`.execute(tx)
}

// A statement takes at most 32,766 parameters on SQLite.
const most_values = 5000

async function addValues(tx: Tx, table: Table, rows: Row[]): Promise<void> {
  const values = rows.flatMap((row) =>
    valuesOf(row).map(
      ([field, value]) => sql`(${row.workspace_id}, ${table}, ${field}, ${value}, ${row.id})`,
    ),
  )
  for (let from = 0; from < values.length; from += most_values)
    await sql`
      INSERT INTO field_values (workspace_id, kind, field, value, record_id)
      VALUES ${sql.join(values.slice(from, from + most_values))} ON CONFLICT DO NOTHING`.execute(tx)
}

// Copies of db/lists/search.ts, sort-names.ts and field-values.ts as they were released with this migration.

const spelt: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  ŧ: 't',
  // The last letter of a Greek word must also match in its middle.
  ς: 'σ',
}
const undecomposed = new RegExp(`[${Object.keys(spelt).join('')}]`, 'g')
/** A text in lower case, without accents, as this migration writes it. */
export const normalised = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(undecomposed, (letter) => spelt[letter] as string)
    .normalize('NFC')

const most_characters = 100
/** The characters of a name that an index entry holds. */
export const cut = (text: string) => text.slice(0, most_characters).toWellFormed()

const nameOf = (table: Table, { name = '', first_name = '', last_name = '' }: Row): string =>
  (table === 'contacts' ? [last_name, first_name] : [name]).map((part) => cut(normalised(part))).join('\n')

function valuesOf({ tags = '[]', custom_fields = '{}' }: Row): [field: string, value: string][] {
  const fields = Object.entries<unknown>(JSON.parse(custom_fields))
  return [
    ...(JSON.parse(tags) as string[]).map((tag): [string, string] => ['tags', cut(tag)]),
    ...fields.map(([key, value]): [string, string] => [
      `custom_fields.${key}`,
      cut(typeof value === 'string' ? value : JSON.stringify(value)),
    ]),
  ]
}
