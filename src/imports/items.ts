import { transaction } from '../db/db.ts'
import type { FieldProblem } from '../errors.ts'
import {
  type Item,
  newProblems,
  taskOf,
  valueProblems,
  type Writes,
  writesOf,
} from '../resources/batch/items.ts'
import { isOfCell } from './bad-cells.ts'
import type { MappedRow } from './mapped-row.ts'
import type { Running } from './rows.ts'

// The items that rows become.

/** The item of a row. */
export function itemOf({ options: { on_match, match } }: Running, { data, is_unowned }: MappedRow): Item {
  const matches = on_match !== 'create' && match !== null && hasValue(data, match)
  if (matches) return { op: 'upsert', match, data }
  // Without an owner of its own, it would belong to the person who imports it.
  return { op: 'create', data: is_unowned ? { ...data, owner_id: null } : data }
}

function hasValue(data: Record<string, unknown>, match: string): boolean {
  const [, key] = /^custom_fields\.(.+)$/s.exec(match) ?? []
  const value = key ? (data.custom_fields as Record<string, unknown> | undefined)?.[key] : data[match]
  return value !== undefined && value !== null && String(value).trim() !== ''
}

/** The data of a row as it is written: a name replaces an id, and a custom field without a value is none. */
function ownData({ data, names }: MappedRow): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(data).filter(([field]) => names[field] === undefined))
  const { custom_fields } = own
  if (typeof custom_fields === 'object' && custom_fields !== null)
    own.custom_fields = Object.fromEntries(
      Object.entries(custom_fields).filter(([, value]) => value !== null),
    )
  return own
}

/** The rows that become or change a record, as far as their values tell. The others make nothing that they name. */
export async function importable(running: Running, rows: readonly MappedRow[]): Promise<MappedRow[]> {
  const { db, room, options, definitions } = running
  const writes = writesOf(room) as Writes
  const { after_create } = room.import
  const leaves = options.bad_cells === 'leave_out'
  const valid = rows.filter((row) => {
    const { op } = itemOf(running, row)
    // An earlier row of the file may have made the record of an upsert, which then needs no more values.
    const problems = op === 'create' ? newProblems : valueProblems
    const found = problems(writes, definitions, ownData(row), after_create)
    // Of custom fields that the record has already, none is judged.
    const may_be = ({ field }: FieldProblem) => op === 'upsert' && field.startsWith('custom_fields')
    return !found.some((one) => !may_be(one) && !(leaves && isOfCell(one)))
  })
  if (options.on_match !== 'skip' || !valid.length) return valid
  const context = running.context()
  const given = { context, writes, options: { atomic: false }, definitions }
  const upserts = new Map(valid.map((row) => [row, taskOf(given, 0, itemOf(running, row)).upsert]))
  const [first] = [...upserts.values()].flatMap((one) => one ?? [])
  if (!first) return valid
  const keys = [...upserts.values()].flatMap((one) => one?.key ?? [])
  const matched = await transaction(db, (tx) => first.match.find(tx, context.workspace_id, keys, 'read'))
  const skipped = new Set(matched.map(({ key }) => key))
  return valid.filter((row) => !skipped.has(upserts.get(row)?.key ?? ''))
}
