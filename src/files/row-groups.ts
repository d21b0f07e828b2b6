import type { CsvForm } from './delimiter.ts'
import { kept_characters, max_cells, max_row_characters } from './rows.ts'

const [quote, cr, lf] = [...'"\r\n'].map((sign) => sign.charCodeAt(0))

type Form = Pick<CsvForm, 'delimiter' | 'ends_at_cr'>

/**
 * Finds the ends of CSV rows, and counts their cells, in a text that arrives in parts. It reads quotes as the parser of
 * csv-rows.ts does.
 */
export function createRowEnds({ delimiter, ends_at_cr }: Form) {
  const between = delimiter.charCodeAt(0)
  // `quote`: after a quote inside a quoted cell, which closes the cell or escapes the next quote. `cr`: after a row end.
  let state: 'start' | 'plain' | 'quoted' | 'quote' | 'cr' = 'start'
  let cells = 1
  const ended = (end: number) => {
    const found = { end, cells }
    state = 'start'
    cells = 1
    return found
  }
  return {
    /** The next row that ends from an index on: the index after it, and its cells. Null if it continues in the next part. */
    next(text: string, from: number): { end: number; cells: number } | null {
      for (let at = from; at < text.length; at++) {
        const sign = text.charCodeAt(at)
        if (state === 'cr') return ended(sign === lf ? at + 1 : at)
        if (state === 'quoted') {
          if (sign === quote) state = 'quote'
        } else if (sign === lf) return ended(at + 1)
        else if (sign === cr && ends_at_cr) state = 'cr'
        else if (sign === quote && state !== 'plain') state = 'quoted'
        else if (sign === between) {
          state = 'start'
          cells++
        } else state = 'plain'
      }
      return null
    },
    /** The cells so far of the row that has not ended. */
    openCells: () => cells,
    /** Whether a quote is open after the last part. */
    isQuoted: () => state === 'quoted',
  }
}

/** Rows that follow each other: cells to parse, blank lines, or one row beyond a limit, whose text is cut. */
export type RowGroup = { kind: Kind; rows: number; text: string }
type Kind = 'cells' | 'blank' | 'too_many_cells' | 'row_too_long'

// Rows that are parsed at once, in a few milliseconds.
const rows_at_once = 500

/**
 * Cuts the text of a CSV file, which arrives in parts, between rows. So no row is parsed before its size is known. The
 * header is a group alone, as is each row before it. A line `sep=` is left out.
 */
export function createRowGroups(form: CsvForm) {
  const header_at = form.header_line + (form.header_row ?? 1) - 1
  const ends = createRowEnds(form)
  // The row that has not ended. If it is beyond a limit already, its kind, and the start of its text.
  let open = ''
  let open_kind: Kind | null = null
  let seen = 0

  function* split(part: string): Generator<RowGroup> {
    const text = open + part
    let group = { kind: 'cells' as Kind, rows: 0, from: 0 }
    const cut = (to: number): RowGroup[] => {
      const { kind, rows, from } = group
      const end = isBeyond(kind) ? Math.min(to, from + kept_characters) : to
      return rows ? [{ kind, rows, text: text.slice(from, end) }] : []
    }
    let from = 0
    for (let at = open.length; ; at = from) {
      const row = ends.next(text, at)
      if (!row) break
      const kind = open_kind ?? kindOf(text.slice(from, row.end), row.cells)
      open_kind = null
      const is_full = kind === 'cells' && group.rows === rows_at_once
      if (kind !== group.kind || isBeyond(kind) || is_full || seen <= header_at) {
        yield* cut(from)
        group = { kind, rows: 0, from }
      }
      from = row.end
      if (++seen >= form.header_line) group.rows++
    }
    yield* cut(from)
    keep(text.slice(from))
  }

  function keep(row: string) {
    open_kind ??= excessOf(row.length, ends.openCells())
    open = open_kind ? row.slice(0, kept_characters) : row
  }

  return {
    /** The rows that end in a part. */
    split,
    /** The last row, if the text does not end with a line end. Null if a quote is open. */
    end: (): RowGroup[] | null =>
      ends.isQuoted() ? null : open ? [{ kind: open_kind ?? 'cells', rows: 1, text: open }] : [],
  }
}

const isBeyond = (kind: Kind) => kind !== 'cells' && kind !== 'blank'

const excessOf = (characters: number, cells: number): Kind | null =>
  cells > max_cells ? 'too_many_cells' : characters > max_row_characters ? 'row_too_long' : null

function kindOf(row: string, cells: number): Kind {
  // Without the line end.
  const excess = excessOf(row.length - 1, cells)
  return excess ?? (row === '\n' || row === '\r\n' || row === '\r' ? 'blank' : 'cells')
}
