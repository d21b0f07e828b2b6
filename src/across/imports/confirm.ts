import { sql } from 'kysely'
import type { FileRow } from '../../files/rows.ts'
import type { RowError } from './errors.ts'
import type { MappedRow } from './mapping.ts'
import type { Relink, Running } from './rows.ts'

// An exported row has its own id and its time of creation. Only the workspace that exported it has this record, so the
// other ids of the row count only there. Elsewhere they would link strangers. Rows without them are the caller's own.

/** Takes the references from rows of exports of other workspaces, with a note for each. */
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

/** A reference that the row also gives by name stays: the name decides (names.ts). */
function unlink({ room }: Running, row: FileRow, { data, names }: MappedRow): RowError[] {
  return Object.keys(room.resource.references).flatMap((field) => {
    if (data[field] === undefined || data[field] === null || names[field] !== undefined) return []
    const message = `The row is an export of another workspace, where ${field} is ${String(data[field]).slice(0, 20)}. It is imported without ${field}.`
    delete data[field]
    return [{ row, field, code: 'other_workspace' as const, message }]
  })
}
