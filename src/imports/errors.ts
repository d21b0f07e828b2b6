import type { Db, Tx } from '../db/db.ts'
import { prepareInsert, storable } from '../db/statements/recordset.ts'
import type { ApiError, ConflictReason, FieldProblem } from '../errors.ts'
import { csvRow } from '../files/csv.ts'
import type { FileRow, RowProblem } from '../files/rows.ts'
import type { ImportRow } from './store.ts'

/** The codes of rows that are imported without a link. */
export const link_codes = ['other_workspace', 'not_in_archive', 'no_such_member', 'not_found'] as const
/** The codes of cells and names that have several meanings, and of rows that are not records. */
export const unclear_codes = ['two_readings', 'ambiguous', 'cell_error', 'not_a_record'] as const

/** The code of an import error: a code of a single request, or one that only an import has (docs/import.md). */
export type ImportErrorCode =
  | FieldProblem['code']
  | ConflictReason
  | RowProblem['code']
  | (typeof link_codes)[number]
  | (typeof unclear_codes)[number]

/** An error of a row. `field` is empty if the error is about the whole row. */
export type Problem = { field: string; code: ImportErrorCode; message: string }
/** An error with its row. All are counted, and the first 10,000 are kept. */
export type RowError = Problem & { row: FileRow }

/** The problems of an error, each with its field. */
export const problemsOf = ({ fields, code, reason, message }: ApiError): Problem[] =>
  fields ?? [{ field: '', code: reason ?? code, message }]

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
  code: 'text!',
} as const
const add = prepareInsert('import_errors', columns)

/** Keeps the errors of a batch, after the `errors` that are kept already; returns how many it kept. */
export function keepErrors(
  tx: Tx,
  { workspace_id, id, errors }: ImportRow,
  found: readonly RowError[],
): number {
  const kept = found.slice(0, max_kept - errors)
  // A row can have many errors.
  const sent = new Map<FileRow, string>()
  for (const { row } of kept) if (!sent.has(row)) sent.set(row, storable(sentRow(row)))
  const rows = kept.map(({ row, field, code, message }, n) => ({
    workspace_id,
    import_id: id,
    number: errors + n,
    row_number: row.number,
    content: sent.get(row) as string,
    field: storable(field),
    message: storable(placed(row, message)),
    code,
  }))
  tx.defer(add(tx, rows))
  return kept.length
}

const placed = ({ archived }: FileRow, message: string) =>
  archived ? `${archived.file}, line ${archived.line}: ${message}` : message

const escaped = /\\(?:u([\da-f]{4})|\/)/gi

/** The start of the row as it was sent. JSON has no escaped characters, so that an erasure finds addresses in it. */
function sentRow({ values, text }: FileRow): string {
  const start =
    text === undefined
      ? csvRow(cellsWithin(values.map(String), max_characters))
      : text
          .slice(0, max_characters)
          .replace(escaped, (_, hex) => (hex ? String.fromCharCode(Number.parseInt(hex, 16)) : '/'))
  return start.trimEnd().slice(0, max_characters)
}

/** The first cells that have so many characters, the last one of them cut. */
function cellsWithin(cells: readonly string[], characters: number): string[] {
  const some: string[] = []
  for (let left = characters; left > 0 && some.length < cells.length; ) {
    const cell = (cells[some.length] as string).slice(0, left)
    some.push(cell)
    left -= cell.length + 1
  }
  return some
}

const rows_at_once = 500
/** The columns of the errors as CSV. */
export const error_columns = ['row', 'field', 'message', 'content', 'code'] as const

/** The errors of an import as CSV, page by page. */
export async function* readErrors(db: Db, { workspace_id, id }: ImportRow): AsyncGenerator<Buffer> {
  yield Buffer.from(csvRow(error_columns))
  for (let from = 0; ; from += rows_at_once) {
    const rows = await db
      .selectFrom('import_errors')
      .select(['row_number', 'field', 'message', 'content', 'code'])
      .where((eb) => eb.and({ workspace_id, import_id: id }))
      .where('number', '>=', from)
      .where('number', '<', from + rows_at_once)
      .orderBy('number')
      .execute()
    if (!rows.length) return
    yield Buffer.from(
      rows
        .map(({ row_number, field, message, content, code }) =>
          csvRow([String(row_number), field, message, content, code]),
        )
        .join(''),
    )
  }
}
