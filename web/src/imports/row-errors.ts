import { conflictsIn, fieldMessage } from '../app/explain.ts'
import type { AllTexts as Texts } from '../texts/parts.ts'
import { parseCsv } from './csv.ts'

export type RowError = {
  id: number
  row: string
  field: string
  message: string
  content: string
  code: string
}

/** The errors of an import, from the file that the service writes, by the names in its header. */
export function errorsIn(csv: string): RowError[] {
  const [header = [], ...rows] = parseCsv(csv)
  return rows.map((cells, id) => {
    const cellOf = (name: string) => cells[header.indexOf(name)] ?? ''
    return {
      id,
      row: cellOf('row'),
      field: cellOf('field'),
      code: cellOf('code'),
      message: cellOf('message'),
      content: cellOf('content'),
    }
  })
}

/** A column of the file, and its field. */
export type ReadColumn = { header: string; field: string | null }

/** The cell that an error is about. Null if the row was not a row of a table, or no column has the field. */
export function cellOf(
  { field, content }: Pick<RowError, 'field' | 'content'>,
  columns: readonly ReadColumn[],
): { header: string; value: string } | null {
  const [values = []] = parseCsv(content)
  const of_field = columns.flatMap(({ header, field: one }, n) =>
    one !== null && (one === field || `${one}_id` === field) ? [{ header, value: values[n] ?? '' }] : [],
  )
  // A row of a table has as many cells as the header, and fewer if it was cut.
  if (values.length > columns.length) return null
  return of_field.find(({ value }) => value !== '') ?? of_field[0] ?? null
}

// The service begins the message of a row of an archive with its place.
const place_in_archive = /^(?<file>[^ ]+\.ndjson), line (?<line>\d+): (?<rest>.*)$/s

/** The problem of a row, in the person's language. An error without a known code has the service's message. */
export function rowMessage(error: Pick<RowError, 'field' | 'code' | 'message'>, texts: Texts): string {
  const { file, line, rest = error.message } = place_in_archive.exec(error.message)?.groups ?? {}
  const problem = problemOf({ ...error, message: rest }, texts)
  return file === undefined ? problem : texts.imports.in_line({ file, line: Number(line), problem })
}

function problemOf(error: Pick<RowError, 'field' | 'code' | 'message'>, texts: Texts): string {
  const of_rows: Record<string, string> = texts.imports.row_problems
  const own = of_rows[error.code] ?? conflictsIn(texts)[error.code]
  return typeof own === 'string' ? own : fieldMessage(error, texts)
}
