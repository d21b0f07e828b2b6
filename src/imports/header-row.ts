import { createPace } from '../db/pace.ts'
import { createMapping } from './mapping.ts'
import type { ImportRoom } from './rows.ts'
import type { ImportOptions } from './schema.ts'
import { sourceOf } from './source.ts'

// The row of the header. Some programs write notes before it: they have fewer cells than the header.

/** How many of its first rows a file is searched for its header. */
export const searched_rows = 30
/** Finds the header among the first rows of a file. Returns its place, from 1. */
export type FindHeader = (rows: readonly (readonly string[])[]) => Promise<number>

const filledOf = (cells: readonly string[]) => cells.filter((cell) => cell.trim() !== '').length

/** Finds headers of a kind of records. */
export function headerFinder(
  room: ImportRoom,
  options: Pick<ImportOptions, 'columns' | 'rest' | 'program' | 'time_zone'>,
): FindHeader {
  /** How many of the cells are headers with a field. */
  const known = (cells: readonly string[]): number => {
    const headers = cells.map((cell) => cell.trim())
    const columns = createMapping(room, options, [], sourceOf(headers, room, options)).columnsOf(headers)
    return columns.filter(({ target }) => target !== null).length
  }
  return async (rows) => {
    const first = rows.findIndex((cells) => filledOf(cells) > 0)
    if (first < 0) return 1
    const notes = rows[first] as readonly string[]
    const wider = rows.flatMap((cells, n) => (n > first && filledOf(cells) > filledOf(notes) ? [n] : []))
    if (!wider.length) return first + 1
    const of_first = known(notes)
    if (of_first > 0 && filledOf(notes) > 1) return first + 1
    const pace = createPace()
    for (const n of wider) {
      if (known(rows[n] as readonly string[]) > 1) return n + 1
      await pace()
    }
    return (of_first === 0 ? widest(rows, first, wider) : first) + 1
  }
}

/** The first row with the most cells, if a note of one cell stands before a table of texts. */
function widest(rows: readonly (readonly string[])[], first: number, wider: readonly number[]): number {
  if (filledOf(rows[first] as readonly string[]) > 1) return first
  const most = Math.max(...wider.map((n) => filledOf(rows[n] as readonly string[])))
  const at = wider.find((n) => filledOf(rows[n] as readonly string[]) === most) as number
  const names = (rows[at] as readonly string[]).map((cell) => cell.trim()).filter(Boolean)
  const is_header =
    new Set(names).size === names.length && names.every((name) => !/^[\d\s.,:/+-]+$/.test(name))
  return most > 2 && is_header ? at : first
}
