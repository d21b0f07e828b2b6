import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { addValues } from '../lists/field-values.ts'
import { sortName } from '../lists/sort-names.ts'
import type { Migration } from '../migrate.ts'
import { engineOf } from '../statements/prepare.ts'
import { prepareRows } from '../statements/recordset.ts'

const tables = ['companies', 'contacts', 'deals'] as const
type Table = (typeof tables)[number]

/** Names as they are sorted, and tags and custom fields as they are found: what no column of before could be indexed for. */
export const sortNames: Migration = {
  name: '0003_sort_names',
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
  fill: async (tx) => {
    for (const table of tables)
      for await (const rows of pagesOf(tx, table)) {
        await setNames[table](tx, rows.map(namedRow[table]), {})
        if (table === 'deals') continue
        const valued = rows.map(({ workspace_id, id, tags = '[]', custom_fields = '{}' }) => ({
          ...{ workspace_id, id, tags: JSON.parse(tags), custom_fields: JSON.parse(custom_fields) },
        }))
        await addValues(tx, table, valued)
      }
  },
}

type Row = { workspace_id: number; id: number; tags?: string; custom_fields?: string } & Record<
  string,
  string
>

const wanted: Record<Table, string[]> = {
  companies: ['name', 'custom_fields'],
  contacts: ['first_name', 'last_name', 'tags', 'custom_fields'],
  deals: ['name'],
}
const byName = (row: Row) => ({ ...row, sort_name: sortName(row.name ?? '') })
const namedRow = {
  companies: byName,
  contacts: (row: Row) => ({ ...row, sort_name: sortName(row.last_name ?? '', row.first_name ?? '') }),
  deals: byName,
}

const columns = { workspace_id: 'bigint!', id: 'bigint!', sort_name: 'text!' } as const
const settingOf = (table: Table) =>
  prepareRows(columns, (db, { row, rows }) => ({
    compile: () =>
      sql`UPDATE ${sql.table(table)} AS t SET sort_name = ${row.sort_name} ${rows('FROM')}
        WHERE t.workspace_id = ${row.workspace_id} AND t.id = ${row.id}`.compile(db),
  }))
const setNames = {
  companies: settingOf('companies'),
  contacts: settingOf('contacts'),
  deals: settingOf('deals'),
}

// All rows, those in the trash too, in the order of the engine's own key.
async function* pagesOf(tx: Db, table: Table): AsyncGenerator<Row[]> {
  const names = sql.join(['workspace_id', 'id', ...wanted[table]].map((name) => sql.ref(name)))
  let last = { workspace_id: 0, id: 0 }
  for (;;) {
    const [beyond, order] =
      engineOf(tx) === 'sqlite'
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
