import type { Generated } from 'kysely'
import { newId } from './ids.ts'
import { prepareInsert } from './statements/recordset.ts'
import type { Db, Tx } from './tx.ts'

// Work that the transaction of a request leaves for later ones. It is a row until it is done, so no crash loses it.
// `work/run.ts` does its steps.

/** The kinds of work. The subject of a kind is a member, a webhook, an import, …: its id. */
export const work_kinds = ['fan_out', 'reassignment', 'webhook_removal', 'resend', 'webhook_order'] as const
export type WorkKind = (typeof work_kinds)[number]

export interface WorkTable {
  id: string
  workspace_id: number
  kind: WorkKind
  subject: string
  state: string
  /** JSON: what is to be done, and how far it has come. Each kind has its own. */
  position: string
  /** The author of the request (events/actors.ts). */
  actor: string
  request_id: string | null
  /** The service time from which any process may take the next step. */
  lease_ends_ms: number
  /** The failed attempts since the last step that succeeded. */
  attempts: Generated<number>
  last_error: Generated<string | null>
  created_at: string
}

/** The context of the change that leaves the work. */
export type Author = {
  workspace_id: number
  actor: { kind: string; id: string | null }
  request_id: string | null
  now: string
  elapsed(): number
}
export type NewWork = {
  kind: WorkKind
  subject: string
  position?: unknown
  state?: string
  lease_ms?: number
}

const insert = prepareInsert('work', {
  id: 'text!',
  workspace_id: 'bigint!',
  kind: 'text!',
  subject: 'text!',
  state: 'text!',
  position: 'text!',
  actor: 'text!',
  request_id: 'text',
  lease_ends_ms: 'bigint!',
  created_at: 'text!',
})

/** Adds work, which any process may begin after the commit, or after `lease_ms`. */
export function addWork(
  tx: Tx,
  { workspace_id, actor, request_id, now, elapsed }: Author,
  ...all: readonly NewWork[]
): void {
  const rows = all.map(({ kind, subject, position = null, state = 'running', lease_ms = 0 }) => ({
    id: newId('wrk'),
    workspace_id,
    kind,
    subject,
    state,
    position: JSON.stringify(position),
    actor: actor.id ?? actor.kind,
    request_id,
    lease_ends_ms: elapsed() + lease_ms,
    created_at: now,
  }))
  tx.rows(insert, rows)
  if (rows.length) tx.announce('backlog')
}

const ofSubject = (db: Db, workspace_id: number, kind: WorkKind, subject: string) =>
  db.deleteFrom('work').where((eb) => eb.and({ workspace_id, kind, subject }))

/** The position of each work of a kind that a subject has. */
export async function positionsOf(
  db: Db,
  workspace_id: number,
  kind: WorkKind,
  subject: string,
): Promise<unknown[]> {
  const rows = await db
    .selectFrom('work')
    .select('position')
    .where((eb) => eb.and({ workspace_id, kind, subject }))
    .execute()
  return rows.map(({ position }) => JSON.parse(position))
}

/** Removes the work of a kind that a subject has. A step of it in another transaction ends first. */
export async function dropWork(tx: Tx, workspace_id: number, kind: WorkKind, subject: string): Promise<void> {
  await ofSubject(tx, workspace_id, kind, subject).execute()
}
