import type { Db } from '../db/db.ts'
import { bytesOf, listed_bytes, textUpTo } from '../db/sizes.ts'
import { announce, prepare } from '../db/statements/prepare.ts'
import type { Actor, Context } from './context.ts'
import type { Changes } from './define.ts'

/** What an entry of the audit log tells. */
export type Change = {
  /** A verb in the past: created, updated, deleted, restored, or what an operation of its own is called. */
  action: string
  /** The resource's name, such as contacts. */
  kind: string
  record_id: number | string
  /** The fields concerned, as they were and as they are; null or left out where there is nothing to tell. */
  before?: object | null
  after?: object | null
}

type Entry = {
  workspace_id: number
  occurred_at: string
  actor_kind: Actor['kind']
  actor_id: string | null
  action: string
  kind: string
  record_id: string
  before: string | null
  after: string | null
  request_id: string | null
}
const insert = prepare((db, p: Entry) =>
  db.insertInto('audit_log').values({
    workspace_id: p.workspace_id,
    occurred_at: p.occurred_at,
    actor_kind: p.actor_kind,
    actor_id: p.actor_id,
    action: p.action,
    kind: p.kind,
    record_id: p.record_id,
    before: p.before,
    after: p.after,
    request_id: p.request_id,
  }),
)

const textOf = (fields: object | null | undefined): string | null => (fields ? JSON.stringify(fields) : null)

/** Adds an entry to the audit log, in the transaction of the change itself. */
export async function recordChange(tx: Db, context: Context, change: Change): Promise<void> {
  const { workspace_id, actor, request_id, now } = context
  const { action, kind, record_id, before, after } = change
  announce(tx, 'changes')
  await insert(tx, {
    workspace_id,
    occurred_at: now,
    actor_kind: actor.kind,
    actor_id: actor.id,
    action,
    kind,
    record_id: String(record_id),
    before: textOf(before),
    after: textOf(after),
    request_id,
  })
}

/** The columns of an entry's sides as lists show them: a long side is not read. */
export const listed_sides = [
  textUpTo('before', listed_bytes).as('before'),
  textUpTo('after', listed_bytes).as('after'),
  bytesOf('before').as('before_bytes'),
  bytesOf('after').as('after_bytes'),
] as const

export type ListedSides = Record<'before' | 'after', string | null> &
  Record<'before_bytes' | 'after_bytes', number>
type Side = Record<string, unknown> | null

/** A side of an entry as it is shown. */
export const sideOf = (text: string | null): Side => text && JSON.parse(text)

/** The sides of an entry in a list: without those that are long. */
export const listedSides = (row: ListedSides): { before?: Side; after?: Side } => ({
  ...(row.before_bytes <= listed_bytes && { before: sideOf(row.before) }),
  ...(row.after_bytes <= listed_bytes && { after: sideOf(row.after) }),
})

/** The two sides of an update, for the audit log: the changed fields before, and after. */
export function auditSides({ changed_fields, previous }: Changes, record: object) {
  const current = record as Record<string, unknown>
  return {
    before: previous,
    after: Object.fromEntries(changed_fields.map((field) => [field, current[field]])),
  }
}

/** What the audit log keeps of a record that is of no resource: without its id, its dates, and fields that are null. */
export function auditSnapshot(record: object): object {
  const without = ['id', 'created_at', 'updated_at']
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => value !== null && !without.includes(name)),
  )
}
