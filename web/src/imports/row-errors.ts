import { fieldMessage } from '../app/explain.ts'
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
  const conflicts: Record<string, unknown> = texts.conflicts
  const own = of_rows[error.code] ?? conflicts[error.code]
  return typeof own === 'string' ? own : fieldMessage(error, texts)
}
