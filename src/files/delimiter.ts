import { parse } from 'csv-parse/sync'

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
  const ends: Pick<CsvForm, 'ends_at_cr'> = endsAtCr(start) ? { ends_at_cr: true } : {}
  const [, named] = /^sep=([,;\t|])\r?\n/.exec(start) ?? []
  if (named) return { delimiter: named as Delimiter, header_line: 2, ...ends }
  const scores = delimiters.map((delimiter) => scoreOf(start, delimiter, rowEnds(ends)))
  const best = scores.indexOf(Math.max(...scores))
  return { delimiter: delimiters[best] as Delimiter, header_line: 1, ...ends }
}

/** The ends of rows. A file may have several of them, if programs of several systems wrote it. */
export const rowEnds = ({ ends_at_cr }: Pick<CsvForm, 'ends_at_cr'>): string[] =>
  ends_at_cr ? ['\r\n', '\n', '\r'] : ['\r\n', '\n']

/** Whether the first row ends at a CR, as in files of old Macs. */
function endsAtCr(start: string): boolean {
  let is_quoted = false
  for (let at = 0; at < start.length; at++) {
    const sign = start[at]
    if (sign === '"') is_quoted = !is_quoted
    else if (!is_quoted && sign === '\n') return false
    else if (!is_quoted && sign === '\r') return start[at + 1] !== '\n'
  }
  return false
}

function scoreOf(start: string, delimiter: Delimiter, record_delimiter: string[]): number {
  const rows: string[][] = []
  try {
    const form = { delimiter, record_delimiter, to: sampled_rows }
    const options = { ...form, relax_quotes: true, relax_column_count: true }
    parse(start, { ...options, on_record: (row) => void rows.push(row) })
  } catch {
    // The start may end inside of a quoted cell.
  }
  const cells = rows[0]?.length ?? 0
  const alike = rows.filter((row) => row.length === cells).length
  return cells > 1 ? (cells * alike) / rows.length : 0
}
