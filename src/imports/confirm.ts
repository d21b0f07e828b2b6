import { sql } from 'kysely'
import type { FileRow } from '../files/rows.ts'
import type { RowError } from './errors.ts'
import type { MappedRow } from './mapped-row.ts'
import type { Relink, Running } from './rows.ts'

// An exported row has the id and the creation time of its record. If the workspace has no such record, the row comes from
// another workspace. Its references would then name unrelated records, so they are removed. A row without an id and a time
// was not exported, so its references stay.

/** Removes the references of rows that another workspace exported. Returns an error for each removed reference. */
export const confirmLinks: Relink = async (running, rows) => {
  const notes: RowError[] = []
  const exported = [...rows].flatMap(([row, mapped]) => {
    const origin = originOf(row)
    return origin ? [{ row, mapped, origin }] : []
  })
  const created = await createdAt(
    running,
    exported.map(({ origin }) => origin.id),
  )
  for (const { row, mapped, origin } of exported)
    if (created.get(origin.id) !== origin.created_at) notes.push(...unlink(running, row, mapped))
  return notes
}

type Origin = { id: number; created_at: string }

function originOf({ names, values }: FileRow): Origin | null {
  const [id, created_at] = [Number(values[names.indexOf('id')]), values[names.indexOf('created_at')]]
  const is_exported =
    Number.isSafeInteger(id) && id > 0 && typeof created_at === 'string' && created_at !== ''
  return is_exported ? { id, created_at } : null
}

async function createdAt(
  { db, room, row: { workspace_id } }: Running,
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (!ids.length) return new Map()
  const { rows } = await sql<Origin>`SELECT id, created_at FROM ${sql.table(room.resource.table)}
    WHERE workspace_id = ${workspace_id} AND id IN (${sql.join([...new Set(ids)])})`.execute(db)
  return new Map(rows.map(({ id, created_at }) => [id, created_at]))
}

/** Removes the references of a row, except those that it also gives by name: the name decides (names.ts). */
function unlink({ room }: Running, row: FileRow, { data, names }: MappedRow): RowError[] {
  return Object.keys(room.resource.references).flatMap((field) => {
    if (data[field] === undefined || data[field] === null || names[field] !== undefined) return []
    const message = `The row is an export of another workspace, where ${field} is ${String(data[field]).slice(0, 20)}. It is imported without ${field}.`
    delete data[field]
    return [{ row, field, code: 'other_workspace' as const, message }]
  })
}
