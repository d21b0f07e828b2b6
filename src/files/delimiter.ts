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
  if (named) return { ...csvForm(start, named as Delimiter), header_line: 2 }
  return best(start, (lengths) => scoreOf(lengths.slice(0, sampled_rows)))
}

/** Guesses the delimiter of a file that begins with notes of one cell: by the rows behind them. */
export const guessBehindNotes = (start: string): CsvForm =>
  best(start, (lengths) => Math.max(0, ...lengths.map((_, n) => scoreOf(lengths.slice(n, n + sampled_rows)))))

function best(start: string, score: (lengths: number[]) => number): CsvForm {
  const forms = delimiters.map((delimiter) => csvForm(start, delimiter))
  const scores = forms.map((form) => score(rowLengths(start, form)))
  return forms[scores.indexOf(Math.max(...scores))] as CsvForm
}

function csvForm(start: string, delimiter: Delimiter): CsvForm {
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

/** How many cells the first rows have. */
function rowLengths(start: string, form: CsvForm): number[] {
  const ends = createRowEnds(form)
  const lengths: number[] = []
  let from = 0
  for (
    let row = ends.next(start, from);
    row && lengths.length < sampled_notes;
    row = ends.next(start, from)
  ) {
    lengths.push(row.cells)
    from = row.end
  }
  // The start may end inside of a row.
  if (lengths.length < sampled_notes && from < start.length && !ends.isQuoted())
    lengths.push(ends.openCells())
  return lengths
}

function scoreOf(lengths: readonly number[]): number {
  const [cells = 0] = lengths
  const alike = lengths.filter((length) => length === cells).length
  return cells > 1 ? (cells * alike) / lengths.length : 0
}
