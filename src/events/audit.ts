import type { Tx } from '../db/db.ts'
import { bytesOf, listed_bytes, textUpTo } from '../db/sizes.ts'
import { prepareInsert } from '../db/statements/recordset.ts'
import type { Context } from './context.ts'
import type { Changes } from './define.ts'

/** A change that the audit log records. */
export type AuditedChange = {
  /** A verb in the past tense: created, updated, deleted, restored, or that of another operation. */
  action: string
  /** The resource's name, such as contacts. */
  kind: string
  record_id: number | string
  /** The changed fields before and after; null or absent without fields. */
  before?: object | null
  after?: object | null
}

const insertEntries = prepareInsert('audit_log', {
  workspace_id: 'bigint!',
  occurred_at: 'text!',
  actor_kind: 'text!',
  actor_id: 'text',
  action: 'text!',
  kind: 'text!',
  record_id: 'text!',
  before: 'text',
  after: 'text',
  request_id: 'text',
  change_group: 'text',
})

const textOf = (fields: object | null | undefined): string | null => (fields ? JSON.stringify(fields) : null)

/** Adds an entry to the audit log, in the transaction of the change. */
export function recordChange(tx: Tx, context: Context, change: AuditedChange): void {
  const { workspace_id, actor, request_id, now, change_group = null } = context
  const { action, kind, record_id, before, after } = change
  tx.announce('changes')
  const entry = {
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
    change_group,
  }
  tx.rows(insertEntries, [entry])
}

/** The columns `before` and `after` for lists, which do not read a long side. */
export const listed_sides = [
  textUpTo('before', listed_bytes).as('before'),
  textUpTo('after', listed_bytes).as('after'),
  bytesOf('before').as('before_bytes'),
  bytesOf('after').as('after_bytes'),
] as const

export type ListedSides = Record<'before' | 'after', string | null> &
  Record<'before_bytes' | 'after_bytes', number>
type Side = Record<string, unknown> | null

/** The `before` or `after` of an entry, parsed. */
export const sideOf = (text: string | null): Side => text && JSON.parse(text)

/** The `before` and `after` of an entry in a list. A long side is left out. */
export const listedSides = (row: ListedSides): { before?: Side; after?: Side } => ({
  ...(row.before_bytes <= listed_bytes && { before: sideOf(row.before) }),
  ...(row.after_bytes <= listed_bytes && { after: sideOf(row.after) }),
})

/** The changed fields of an update before and after, for the audit log. */
export function auditSides({ changed_fields, previous }: Changes, record: object) {
  const current = record as Record<string, unknown>
  return {
    before: previous,
    after: Object.fromEntries(changed_fields.map((field) => [field, current[field]])),
  }
}

/** A record of no resource for the audit log: without its id, its dates and null fields. */
export function auditSnapshot(record: object): object {
  const without = ['id', 'created_at', 'updated_at']
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => value !== null && !without.includes(name)),
  )
}
