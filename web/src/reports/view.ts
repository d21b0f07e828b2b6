import type { Target as ListTarget } from '../app/addresses.ts'

/** A list with the records of a figure: its path and its filters. */
export type Target = ListTarget<'/deals'> | ListTarget<'/activities'>

export type Series = { key: string; label: string; look: 'main' | 'soft' | 'won' | 'lost' }

/** A row of a chart. */
export type Bar = {
  key: string
  label: string
  /** At the end of the row: the number of its records, or their sum. */
  value: string
  /** The records of the value. */
  target: Target | null
  /** Below the value. */
  hint?: { shown: string; target?: Target | null } | undefined
  parts: { series: string; value: number; target: Target | null }[]
  /** The values that hover and focus show, and that a screen reader reads. */
  lines: { label: string; value: string }[]
}

export type Cell = { shown: string /** In the CSV file. */; plain: string | number; target?: Target | null }
export type Column = { label: string; number?: boolean }
export type Row = { key: string; cells: Cell[]; sum?: boolean }

/** The parts of a report: its figures, the chart, and the same as a table. */
export type View = {
  /** The name of the CSV file. */
  name: string
  figures: { label: string; value: string; hint?: string | undefined; target?: Target | null }[]
  series: Series[]
  bars: Bar[]
  axis: (value: number) => string
  columns: Column[]
  rows: Row[]
  empty: boolean
}

/** A target, unless there is no record to show. */
export const unlessNone = (count: number, target: Target): Target | null => (count > 0 ? target : null)

const risky = /^'*[=+\-@\t\r]/

/** A table as CSV. A text that a spreadsheet would run as a formula gets a leading apostrophe, as in exports. */
export function csvOf({ columns, rows }: Pick<View, 'columns' | 'rows'>): string {
  const cellOf = (plain: string | number) => {
    const text = typeof plain === 'string' && risky.test(plain) ? `'${plain}` : String(plain)
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const lines = [
    columns.map(({ label }) => label),
    ...rows.map(({ cells }) => cells.map(({ plain }) => plain)),
  ]
  return lines.map((line) => `${line.map(cellOf).join(',')}\r\n`).join('')
}
