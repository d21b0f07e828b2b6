import type { FileRow } from '../files/rows.ts'
import { valueProblems, type Writes, writesOf } from '../resources/batch/items.ts'
import type { Use } from './account.ts'
import type { Problem } from './errors.ts'
import { freeKey, type MappedRow } from './mapped-row.ts'
import type { Running } from './rows.ts'

// With bad_cells=leave_out, a row is imported without the cells that their fields do not take.

/** A row with the cells that its request has in place of those of the file. */
export function mended(row: FileRow, cells: Running['options']['cells']): FileRow {
  const given = cells[row.number]
  if (!given || row.blank_lines) return row
  const names = [...row.names]
  const values = [...row.values]
  // Of equal headers, the first one is meant. A row may be shorter than its header, and a line of JSON has any names.
  for (const [header, cell] of Object.entries(given)) {
    const at = names.indexOf(header)
    values[at < 0 ? names.push(header) - 1 : at] = cell
  }
  // A hole of the list is an empty cell.
  return { ...row, names, values: Array.from(values, (value) => (value === undefined ? '' : value)) }
}

// These problems are of the row: it lacks a value, contradicts itself, or is a note.
const of_row = new Set(['required', 'not_allowed', 'not_a_record'])
export const isOfCell = ({ code }: Problem): boolean => !of_row.has(code)

/** Leaves bad cells out of a row. Returns the problems that remain, and those of the cells, which the errors list. */
export function leaveBadCells(running: Running, read: MappedRow, found: readonly Problem[]) {
  const { room, definitions, options } = running
  const left: Problem[] = []
  const take = (problems: readonly Problem[]) =>
    problems.filter((problem) => {
      const target = targetOf(problem.field)
      // The row would make another record.
      const is_left =
        isOfCell(problem) &&
        target !== options.match &&
        (leaveCell(read, target) || left.some(({ field }) => targetOf(field) === target))
      if (is_left) left.push({ ...problem, message: `${problem.message} The row is imported without it.` })
      return !is_left
    })
  const remaining = take(found)
  if (!remaining.length) {
    const { after_create } = room.import
    take(valueProblems(writesOf(room) as Writes, definitions, read.data, after_create))
  }
  return { remaining, left }
}

/** The field of a problem: `tags` of `tags[3]`. */
const targetOf = (field: string): string =>
  field.startsWith('custom_fields.') ? field : (field.split(/[.[]/)[0] as string)

/** Takes the cells of a field out of a row. They become custom fields if the import keeps the rest. */
function leaveCell({ data, used, values }: MappedRow, target: string): boolean {
  const targets = [target, target.replace(/_id$/, '')]
  const failed = used.cells.some((use, n) => use === 'row_failed' && isOf(n))
  // No cell says which of the custom fields are too many.
  if (target === 'custom_fields' && !failed) return false
  let is_left = false
  function isOf(n: number): boolean {
    return targets.includes(used.columns[n]?.target ?? '')
  }
  const cells = used.cells.map((use, n): Use => {
    // Another cell of the field may be good.
    const is_bad = isOf(n) && (failed ? use === 'row_failed' : use === 'stored' || use === 'changed')
    if (!is_bad) return use
    is_left = true
    return 'not_valid'
  })
  if (!is_left) return false
  if (!failed) removeFrom(data, target)
  used.cells = cells
  for (const [n, use] of cells.entries()) {
    const { spare_key = null } = used.columns[n] ?? {}
    if (use !== 'not_valid' || !isOf(n) || spare_key === null) continue
    const fields = { ...(data.custom_fields as object) } as Record<string, unknown>
    fields[freeKey(fields, spare_key, values[n])] = textIn(values[n])
    data.custom_fields = fields
    cells[n] = 'stored'
  }
  return true
}

/** A cell as text. A value of a line of JSON may be a list or an object. */
const textIn = (value: unknown): string =>
  Array.isArray(value) || value?.constructor === Object ? JSON.stringify(value) : String(value)

function removeFrom(data: Record<string, unknown>, target: string): void {
  const [name = '', key] = target.split(/\.(.*)/s)
  if (key === undefined) delete data[name]
  else {
    const { [key]: _, ...fields } = data[name] as Record<string, unknown>
    data[name] = fields
  }
}
