import { parse } from 'csv-parse/sync'
import { createRowEnds } from './row-groups.ts'

export type Delimiter = ',' | ';' | '\t' | '|'
/**
 * How the rows of a CSV file begin: after its header, or after a line `sep=;` that Excel writes before the header. With
 * `ends_at_cr`, a row ends at a CR, too: in other files, it belongs to the cell.
 */
export type CsvForm = { delimiter: Delimiter; header_line: 1 | 2; ends_at_cr?: true }

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|']
const sampled_rows = 10

/** Guesses the delimiter from the start of a text: the one that gives the most cells, the same number in most rows. */
export function guessDelimiter(start: string): CsvForm {
  const [, named] = /^sep=([,;\t|])[\r\n]/.exec(start) ?? []
  if (named) return { ...formOf(start, named as Delimiter), header_line: 2 }
  const forms = delimiters.map((delimiter) => formOf(start, delimiter))
  const scores = forms.map((form) => scoreOf(start, form))
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

function scoreOf(start: string, form: CsvForm): number {
  const rows: string[][] = []
  try {
    const { delimiter } = form
    const options = {
      delimiter,
      record_delimiter: rowEnds(form),
      to: sampled_rows,
      relax_quotes: true,
      relax_column_count: true,
    }
    parse(start, { ...options, on_record: (row) => void rows.push(row) })
  } catch {
    // The start may end inside of a quoted cell.
  }
  const cells = rows[0]?.length ?? 0
  const alike = rows.filter((row) => row.length === cells).length
  return cells > 1 ? (cells * alike) / rows.length : 0
}
