import { parse } from 'csv-parse/sync'
import { createRowEnds } from './row-groups.ts'

export type Delimiter = ',' | ';' | '\t' | '|'
/**
 * How the rows of a CSV file begin: after its header, or after a line `sep=;` that Excel writes before the header. With
 * `ends_at_cr`, a row ends at a CR, too: in other files, it belongs to the cell. `header_row` is the row of the header, as a
 * spreadsheet numbers it; absent: 1. The rows before it are notes.
 */
export type CsvForm = { delimiter: Delimiter; header_line: 1 | 2; ends_at_cr?: true; header_row?: number }

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|']
const sampled_rows = 10
// Notes before the header have other delimiters, or none.
const sampled_notes = 30

/** Guesses the delimiter from the start of a text: the one that gives the most cells, the same number in most rows. */
export function guessDelimiter(start: string): CsvForm {
  const [, named] = /^sep=([,;\t|])[\r\n]/.exec(start) ?? []
  if (named) return { ...formOf(start, named as Delimiter), header_line: 2 }
  return best(start, (rows) => scoreOf(rows.slice(0, sampled_rows)))
}

/** Guesses the delimiter of a file that begins with notes of one cell: by the rows behind them. */
export const guessBehindNotes = (start: string): CsvForm =>
  best(start, (rows) => Math.max(0, ...rows.map((_, n) => scoreOf(rows.slice(n, n + sampled_rows)))))

function best(start: string, score: (rows: string[][]) => number): CsvForm {
  const forms = delimiters.map((delimiter) => formOf(start, delimiter))
  const scores = forms.map((form) => score(rowsOf(start, form)))
  return forms[scores.indexOf(Math.max(...scores))] as CsvForm
}

function formOf(start: string, delimiter: Delimiter): CsvForm {
  const form: CsvForm = { delimiter, header_line: 1 }
  return endsAtCr(start, delimiter) ? { ...form, ends_at_cr: true } : form
}

/** The ends of rows. A file may have several of them, if programs of several systems wrote it. */
export const rowEnds = ({ ends_at_cr }: Pick<CsvForm, 'ends_at_cr'>): string[] =>
  ends_at_cr ? ['\r\n', '\n', '\r'] : ['\r\n', '\n']

/** Whether the first row ends at a CR alone, as in files of old Macs. */
function endsAtCr(start: string, delimiter: Delimiter): boolean {
  const row = createRowEnds({ delimiter, ends_at_cr: true }).next(start, 0)
  return row !== null && start[row.end - 1] === '\r'
}

function rowsOf(start: string, form: CsvForm): string[][] {
  const rows: string[][] = []
  try {
    const { delimiter } = form
    const options = {
      delimiter,
      record_delimiter: rowEnds(form),
      to: sampled_notes,
      relax_quotes: true,
      relax_column_count: true,
    }
    parse(start, { ...options, on_record: (row) => void rows.push(row) })
  } catch {
    // The start may end inside of a quoted cell.
  }
  return rows
}

function scoreOf(rows: readonly string[][]): number {
  const cells = rows[0]?.length ?? 0
  const alike = rows.filter((row) => row.length === cells).length
  return cells > 1 ? (cells * alike) / rows.length : 0
}
