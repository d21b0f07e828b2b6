import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { bytesOf, fitting } from '../../db/sizes.ts'
import { namedActors, storedActor } from '../../events/actors.ts'
import { sideOf } from '../../events/audit.ts'
import type { Actor } from '../../events/context.ts'
import { authorOf } from '../shared-columns.ts'
import type { NoteKind } from './resource.ts'
import type { NoteVersion } from './schema.ts'

/** A place in a history: the time and the id of an entry of the audit log. */
export type HistoryPlace = readonly [string, number]

/** Texts of one page. */
export const max_versions = 100
const newest: HistoryPlace = ['9999-12-31T23:59:59.999Z', Number.MAX_SAFE_INTEGER]

type Mark = { id: number; at: string; bytes: number }
type Entry = {
  id: number
  actor_kind: Actor['kind']
  actor_id: string | null
  occurred_at: string
  after: string | null
}

/**
 * The texts of a note, newest first, after a place in its history, up to `max_bytes`. `next` is null at the end. The last
 * page has one more text if the audit log no longer has the entry that wrote it: that before the oldest entry of a text, or
 * without any, the present one, `body`.
 */
export async function noteHistory(
  db: Db,
  { resource: { table } }: NoteKind,
  { workspace_id, note_id, body }: { workspace_id: number; note_id: number; body: string },
  { max_bytes, after }: { max_bytes: number; after?: HistoryPlace | undefined },
): Promise<{ versions: NoteVersion[]; next: HistoryPlace | null }> {
  const [at, id] = after ?? newest
  const unknown = (text: string): NoteVersion => ({ body: text, written_at: null, written_by: null })
  // A deletion or a restore writes no text.
  const of_note = sql<SqlBool>`workspace_id = ${workspace_id} AND kind = ${sql.lit(table)}
    AND record_id = ${String(note_id)} AND action IN ('created', 'updated')`
  const { rows: marks } = await sql<Mark>`
    SELECT id, occurred_at AS at, ${bytesOf('after')} AS bytes FROM audit_log
    WHERE ${of_note} AND (occurred_at, id) < (${at}, ${id})
    ORDER BY occurred_at DESC, id DESC LIMIT ${max_versions + 1}`.execute(db)
  const { count } = fitting(marks.slice(0, max_versions), max_bytes)
  const oldest = marks[count - 1]
  if (!oldest) return { versions: after ? [] : [unknown(body)], next: null }
  const { rows: entries } = await sql<Entry>`
    SELECT id, actor_kind, actor_id, occurred_at, after FROM audit_log
    WHERE ${of_note} AND (occurred_at, id) < (${at}, ${id}) AND (occurred_at, id) >= (${oldest.at}, ${oldest.id})
    ORDER BY occurred_at DESC, id DESC`.execute(db)
  const versions = await versionsOf(db, workspace_id, entries)
  if (count < marks.length) return { versions, next: [oldest.at, oldest.id] }
  const first = entries.findLast(({ after: side }) => textOf(side) !== null)
  if (!first) return { versions: after ? [] : [unknown(body)], next: null }
  const { rows } = await sql<{ before: string | null }>`
    SELECT before FROM audit_log WHERE workspace_id = ${workspace_id} AND id = ${first.id}`.execute(db)
  const earlier = textOf(rows[0]?.before)
  if (earlier !== null) versions.push(unknown(earlier))
  return { versions, next: null }
}

/** The texts that these entries wrote. A merge gives a note to another record, and writes no text. */
async function versionsOf(db: Db, workspace_id: number, entries: readonly Entry[]): Promise<NoteVersion[]> {
  const actors = entries.map(({ actor_kind: kind, actor_id: id }) => ({ kind, id }))
  const named = await namedActors(db, workspace_id, actors)
  return entries.flatMap(({ occurred_at: written_at, after }, index): NoteVersion[] => {
    const [body, actor] = [textOf(after), actors[index]]
    if (body === null || !actor) return []
    return [{ body, written_at, written_by: authorOf(storedActor(actor), named[index]?.name ?? null) }]
  })
}

function textOf(side: string | null | undefined): string | null {
  const { body } = sideOf(side ?? null) ?? {}
  return typeof body === 'string' ? body : null
}
