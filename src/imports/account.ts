import { type Column, max_header_characters } from './columns.ts'

// The account of an import: for each column, how many of its cells were stored, stored in another form, or left out, and
// why. Each cell with a value counts once.

/** The ways of a cell. From `no_field` on, they are reasons for which it was left out. */
export const uses = [
  'empty',
  'stored',
  'changed',
  'no_field',
  'read_only',
  'other_kind',
  'left_out',
  'other_value',
  'further_value',
  'unknown_value',
  'not_a_phone',
  'not_linked',
  'not_valid',
  'row_failed',
  'row_skipped',
] as const
export type Use = (typeof uses)[number]

/** The cells of a column so far, by what became of them. */
export type ColumnAccount = { header: string; field: string | null; uses: Partial<Record<Use, number>> }

// Lines of JSON may have any names. Above this, all others are one entry.
const max_columns = 500
const others = '…'

/** The cells of a row with their columns. */
export type UsedCells = { columns: readonly Column[]; cells: readonly Use[] }

/** The cells of a row, where those that gave one of the targets have another use. */
export const withUse = (
  { columns, cells }: UsedCells,
  targets: readonly string[],
  replacing: (n: number) => Use,
): UsedCells => ({
  columns,
  cells: cells.map((use, n) =>
    (use === 'stored' || use === 'changed') && targets.includes(columns[n]?.target ?? '')
      ? replacing(n)
      : use,
  ),
})

/** The account with the cells of rows. `left`: all cells of a row have this reason, because the row was not stored. */
export function withRows(
  account: readonly ColumnAccount[],
  rows: Iterable<UsedCells & { left: 'row_failed' | 'row_skipped' | null }>,
): ColumnAccount[] {
  const all = account.map((one) => ({ ...one, uses: { ...one.uses } }))
  const by_name = new Map(all.map((one) => [nameOf(one), one]))
  const of_columns = new Map<readonly Column[], ColumnAccount[]>()
  for (const { columns, cells, left } of rows) {
    const places = of_columns.get(columns) ?? placesOf(columns, all, by_name)
    of_columns.set(columns, places)
    for (let n = 0; n < cells.length; n++) {
      const place = places[n]
      const use = cells[n] as Use
      if (!place || use === 'empty') continue
      const counted = left ?? use
      place.uses[counted] = (place.uses[counted] ?? 0) + 1
    }
  }
  return all
}

const nameOf = ({ header, field }: Pick<ColumnAccount, 'header' | 'field'>) => `${field ?? ''}\n${header}`

function placesOf(columns: readonly Column[], all: ColumnAccount[], by_name: Map<string, ColumnAccount>) {
  const placeOf = (header: string, field: string | null): ColumnAccount => {
    const name = nameOf({ header, field })
    const found = by_name.get(name)
    if (found) return found
    if (all.length >= max_columns && header !== others) return placeOf(others, null)
    const place = { header, field, uses: {} }
    all.push(place)
    by_name.set(name, place)
    return place
  }
  return columns.map(({ header, target, spare_key }) => {
    const field = target ?? (spare_key === null ? null : `custom_fields.${spare_key}`)
    return placeOf(
      header.slice(0, max_header_characters).toWellFormed(),
      field?.slice(0, max_header_characters) ?? null,
    )
  })
}

/** A column of the account as answers show it. */
export function shownColumn({ header, field, uses: used }: ColumnAccount) {
  const { stored = 0, changed = 0, empty: _, ...reasons } = used
  const left_out = Object.values(reasons).reduce((sum, n) => sum + n, 0)
  return { header, field, stored, changed, left_out, reasons }
}
