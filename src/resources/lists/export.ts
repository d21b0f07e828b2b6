import { setImmediate as turn } from 'node:timers/promises'
import { customValue } from '../../custom-fields/definition-rules.ts'
import { hasDefinitions, readDefinitions } from '../../custom-fields/definitions.ts'
import type { Db } from '../../db/db.ts'
import type { Listed } from '../../db/lists/lists.ts'
import type { Sorting } from '../../db/lists/orders.ts'
import { createPageSize, type PageSize } from '../../db/lists/page-size.ts'
import { engineOf } from '../../db/tx.ts'
import { csvRow } from '../../files/csv.ts'
import { joinTags } from '../../files/tags.ts'
import type { CustomFields } from '../../http/fields.ts'
import type { Column, Resource } from '../resource.ts'
import type { ListRequest, ReadByIds } from './list.ts'

// The list of a resource as a file.

export type ExportFormat = 'csv' | 'ndjson'

type Values = Record<string, unknown>
type List<Query> = (db: Db, request: ListRequest<Query>) => Promise<Listed<unknown>>
/** A list, with the filters and the order that its export has. */
export type Export<Query> = {
  resource: Resource
  list: List<Query>
  /** Reads the detail views. */
  details: ReadByIds<object>
  request: Omit<ListRequest<Query>, 'listing'>
  sorting: Sorting
}

// SQLite runs in this process, so a page must not block the event loop for more than a few ms.
const rows_at_once = { sqlite: 250, postgres: 1000 }
// PostgreSQL reads the next page while this process writes the one before.
const reads_ahead = { sqlite: false, postgres: true }

/** The number of records that an export has. */
export async function countExported<Query>(
  db: Db,
  { list, request, sorting }: Export<Query>,
): Promise<number> {
  const page = { per_page: 1, offset: 0 }
  const { total } = await list(db, { ...request, listing: { page, sorting }, read: async () => [] })
  return total ?? 0
}

/** The bytes of an export, page by page. */
export async function* exportList<Query>(
  db: Db,
  exported: Export<Query>,
  format: ExportFormat,
): AsyncGenerator<Buffer> {
  const columns = await columnsOf(db, exported)
  const toText =
    format === 'csv'
      ? (record: Values) => csvRow(columns.map(({ read }) => read(record)))
      : (record: Values) => `${JSON.stringify(record)}\n`
  if (format === 'csv') yield Buffer.from(csvRow(columns.map(({ name }) => name)))
  const size = createPageSize(rows_at_once[engineOf(db)])
  for await (const records of pagesOf(db, exported, size)) {
    let text = ''
    for (const record of records) text += toText(record as Values)
    const page = Buffer.from(text)
    size.measured(page.length)
    yield page
  }
}

async function* pagesOf<Query>(
  db: Db,
  { list, details, request, sorting }: Export<Query>,
  size: PageSize,
): AsyncGenerator<object[]> {
  const read = (after: readonly unknown[] | null) =>
    list(db, { ...request, listing: { page: { per_page: size.rows(), after }, sorting }, read: details })
  let reading = read(null)
  for (;;) {
    const { records, next } = await reading
    if (next && reads_ahead[engineOf(db)]) {
      reading = read(next)
      // Nobody awaits it when the client goes away.
      reading.catch(() => {})
    }
    yield records as object[]
    if (!next) return
    await turn()
    if (!reads_ahead[engineOf(db)]) reading = read(next)
  }
}

type CsvColumn = { name: string; read(record: Values): string }

/** The columns of a CSV file: the fields of the detail view. The company of a reference has its name. */
export async function columnsOf<Query>(db: Db, { resource, request }: Export<Query>): Promise<CsvColumn[]> {
  const { workspace_id } = request
  const defined = hasDefinitions(resource)
    ? await readDefinitions(db, { workspace_id, kind: resource.table })
    : []
  const keys = defined.map(({ key }) => key)
  const fields = Object.entries(resource.columns).flatMap(([name, column]) =>
    name === 'custom_fields' ? customColumns(keys) : columnOf(name, column),
  )
  return [{ name: 'id', read: ({ id }) => String(id) }, ...fields]
}

/** A column for each defined key, and one as JSON for all others, and for empty texts, which a cell cannot show. */
function customColumns(keys: readonly string[]): CsvColumn[] {
  const name = 'custom_fields'
  const valuesOf = (record: Values) => record[name] as CustomFields
  const others = (record: Values) =>
    Object.fromEntries(
      Object.entries(valuesOf(record)).filter(([key, value]) => value === '' || !keys.includes(key)),
    )
  return [
    ...keys.map((key) => ({
      name: `${name}.${key}`,
      read: (record: Values) => cellOf(key, customValue(valuesOf(record), key)),
    })),
    { name, read: (record) => cellOf(name, keys.length ? others(record) : valuesOf(record)) },
  ]
}

function columnOf(name: string, { author, embeds }: Column): CsvColumn[] {
  if (author) return []
  if (embeds && !embeds.fields.includes('name')) return []
  const value = embeds
    ? (record: Values) => (record[name] as { name: string } | null)?.name
    : (record: Values) => record[name]
  return [{ name, read: (record) => cellOf(name, value(record)) }]
}

/** A value as a cell: '' for null, tags by semicolons, other lists and objects as JSON. */
function cellOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (name === 'tags') return joinTags(value as string[])
  if (name === 'custom_fields' && !Object.keys(value as CustomFields).length) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
