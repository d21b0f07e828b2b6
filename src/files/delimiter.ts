import { parse } from 'csv-parse/sync'

export type Delimiter = ',' | ';' | '\t' | '|'
/** How the rows of a CSV file begin: after its header, or after a line `sep=;` that Excel writes before the header. */
export type CsvForm = { delimiter: Delimiter; header_line: 1 | 2 }

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|']
const sampled_rows = 10

/** Guesses the delimiter from the start of a text: the one that gives the most cells, the same number in most rows. */
export function guessDelimiter(start: string): CsvForm {
  const [, named] = /^sep=([,;\t|])\r?\n/.exec(start) ?? []
  if (named) return { delimiter: named as Delimiter, header_line: 2 }
  const scores = delimiters.map((delimiter) => scoreOf(start, delimiter))
  const best = scores.indexOf(Math.max(...scores))
  return { delimiter: delimiters[best] as Delimiter, header_line: 1 }
}

function scoreOf(start: string, delimiter: Delimiter): number {
  const rows: string[][] = []
  try {
    const options = { delimiter, relax_quotes: true, relax_column_count: true, to: sampled_rows }
    parse(start, { ...options, on_record: (row) => void rows.push(row) })
  } catch {
    // The start may end inside of a quoted cell.
  }
  const cells = rows[0]?.length ?? 0
  const alike = rows.filter((row) => row.length === cells).length
  return cells > 1 ? (cells * alike) / rows.length : 0
}
