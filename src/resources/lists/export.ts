import { setImmediate as turn } from 'node:timers/promises'
import { customValue } from '../../custom-fields/definition-rules.ts'
import { hasDefinitions, readDefinitions } from '../../custom-fields/definitions.ts'
import type { Db } from '../../db/db.ts'
import type { Found } from '../../db/lists/lists.ts'
import type { Sorting } from '../../db/lists/orders.ts'
import { createPageSize } from '../../db/lists/page-size.ts'
import { engineOf } from '../../db/tx.ts'
import { csvRow } from '../../files/csv.ts'
import { joinTags } from '../../files/tags.ts'
import type { CustomFields } from '../../http/fields.ts'
import type { Column, Resource } from '../resource.ts'
import type { ListRequest, ReadByIds } from './list.ts'

// The list of a resource as a file.

export type ExportFormat = 'csv' | 'ndjson'

type Values = Record<string, unknown>
type List<Query> = (db: Db, request: ListRequest<Query>) => Promise<Found<unknown>>
/** Reads detail views: as objects, for CSV, and as lines of JSON. */
export type Exported = { detailsByIds: ReadByIds<object[]>; lines: ReadByIds<{ text: string }> }
/** A list, with the filters and the order that its export has. */
export type Export<Query> = Exported & {
  resource: Resource
  list: List<Query>
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
  if (format === 'ndjson')
    return yield* pagesOf(db, exported, exported.lines, ({ text }) => text && `${text}\n`)
  const columns = await columnsOf(db, exported)
  const rowOf = (record: object) => csvRow(columns.map(({ read }) => read(record as Values)))
  yield Buffer.from(csvRow(columns.map(({ name }) => name)))
  yield* pagesOf(db, exported, exported.detailsByIds, (records) => records.map(rowOf).join(''))
}

async function* pagesOf<Query, Records>(
  db: Db,
  { list, request, sorting }: Export<Query>,
  readByIds: ReadByIds<Records>,
  toText: (records: Records) => string,
): AsyncGenerator<Buffer> {
  const size = createPageSize(rows_at_once[engineOf(db)])
  const read = (after: readonly unknown[] | null) =>
    list(db, { ...request, listing: { page: { per_page: size.rows(), after }, sorting }, read: readByIds })
  let reading = read(null)
  for (;;) {
    const { records, next } = await reading
    if (next && reads_ahead[engineOf(db)]) {
      reading = read(next)
      // Nobody awaits it when the client goes away.
      reading.catch(() => {})
    }
    const page = Buffer.from(toText(records as Records))
    size.measured(page.length)
    yield page
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
