import type { Db } from '../../db/db.ts'
import { defer } from '../../db/statements/prepare.ts'
import { prepareInsert, storable } from '../../db/statements/recordset.ts'
import { csvRow } from '../../files/csv.ts'
import type { FileRow } from '../../files/rows.ts'
import type { ImportRow } from './store.ts'

/** Rows with errors. They are counted in full, and the first of them are kept. */
export type RowError = { row: FileRow; field: string; message: string }

const max_kept = 10_000
const max_characters = 4096

const columns = {
  workspace_id: 'bigint!',
  import_id: 'text!',
  number: 'bigint!',
  row_number: 'bigint!',
  content: 'text!',
  field: 'text!',
  message: 'text!',
} as const
const add = prepareInsert('import_errors', columns)

/** Keeps the errors of a batch, after the `errors` that are kept already; returns how many it kept. */
export function keepErrors(
  tx: Db,
  { workspace_id, id, errors }: ImportRow,
  found: readonly RowError[],
): number {
  const kept = found.slice(0, max_kept - errors)
  const rows = kept.map(({ row, field, message }, n) => ({
    workspace_id,
    import_id: id,
    number: errors + n,
    row_number: row.number,
    content: storable(sentRow(row)),
    field: storable(field),
    message: storable(placed(row, message)),
  }))
  defer(tx, add(tx, rows))
  return kept.length
}

const placed = ({ archived }: FileRow, message: string) =>
  archived ? `${archived.file}, line ${archived.line}: ${message}` : message

const sentRow = ({ values }: FileRow): string =>
  csvRow(values.map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))))
    .trimEnd()
    .slice(0, max_characters)

const rows_at_once = 500

/** The errors of an import as CSV, page by page. */
export async function* readErrors(db: Db, { workspace_id, id }: ImportRow): AsyncGenerator<Buffer> {
  yield Buffer.from(csvRow(['row', 'field', 'message', 'content']))
  for (let from = 0; ; from += rows_at_once) {
    const rows = await db
      .selectFrom('import_errors')
      .select(['row_number', 'field', 'message', 'content'])
      .where('workspace_id', '=', workspace_id)
      .where('import_id', '=', id)
      .where('number', '>=', from)
      .where('number', '<', from + rows_at_once)
      .orderBy('number')
      .execute()
    if (!rows.length) return
    yield Buffer.from(
      rows.map((row) => csvRow([String(row.row_number), row.field, row.message, row.content])).join(''),
    )
  }
}
