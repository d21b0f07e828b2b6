import type { Tx } from '../db/db.ts'
import {
  type Fresh,
  type NewNotification,
  notifyManagers,
  showHeld,
  writeNotifications,
} from '../db/notifications.ts'
import { mailingOf } from '../mails/mailing.ts'
import { storedActor } from './actors.ts'
import { type Context, service } from './context.ts'

/** The cause of a notification, and its member. */
export type Notice = {
  kind: 'assigned' | 'mentioned' | 'import_ended'
  user_id: string
  /** The table of the record or the import, and its id. */
  record_kind: string
  record_id: number | string
  note_id?: number
  outcome?: string
}

/**
 * Notifies a member, in the transaction of the cause. Nobody is notified of their own act. The records that one request
 * assigns to a member are one notification. Notices of an import are shown when it ends (showNotices).
 */
export function notify(tx: Tx, context: Context, notice: Notice): void {
  const { actor, workspace_id, request_id, now } = context
  const { kind, user_id, record_kind, record_id, note_id = null, outcome = null } = notice
  if (actor.kind === 'person' && actor.id === user_id) return
  tx.announce('changes')
  const one = kind === 'assigned' ? (request_id ?? now) : `${record_id}:${note_id ?? ''}`
  const row: NewNotification = {
    workspace_id,
    user_id,
    kind,
    record_kind,
    record_id: String(record_id),
    note_id,
    outcome,
    records: 1,
    actor: storedActor(actor),
    source: `${kind}:${record_kind}:${one}`,
    held_by: context.source === 'import' && kind === 'assigned' ? request_id : null,
    occurred_at: now,
    changed_at: now,
  }
  tx.beforeCommit(writeNotices, [row])
}

// Before the commit, because a mail needs to know which notifications are new, and counts all records of the transaction.
const writeNotices = async (tx: Tx, rows: readonly NewNotification[]) =>
  mail(tx, await writeNotifications(tx, rows))
const showNotices = async (tx: Tx, held: readonly Parameters<typeof showHeld>[1][]) => {
  for (const one of held) await mail(tx, await showHeld(tx, one))
}
const writeForManagers = async (tx: Tx, rows: readonly Parameters<typeof notifyManagers>[1][]) => {
  for (const row of rows) await mail(tx, await notifyManagers(tx, row))
}

/** Writes the mails of new notifications. A command has no settings of mails. */
const mail = async (tx: Tx, notices: readonly Fresh[]) => {
  if (notices.length) await mailingOf(tx)?.mailNotices(tx, notices)
}

/** Notifies the members to whom a change gave the record. `before` is null for a new record. */
export function notifyOwners(
  tx: Tx,
  context: Context,
  { table, members }: { table: string; members: readonly string[] },
  before: object | null,
  after: { id: number },
): void {
  for (const field of members) {
    const owner = fieldOf(after, field)
    if (typeof owner !== 'string' || owner === fieldOf(before, field)) continue
    notify(tx, context, { kind: 'assigned', user_id: owner, record_kind: table, record_id: after.id })
  }
}

const fieldOf = (record: object | null, field: string) => (record as Record<string, unknown> | null)?.[field]

/** Notifies the author of an import of its end, and the owners of its records. */
export function notifyOfImport(
  tx: Tx,
  context: Context,
  {
    id,
    created_by,
    request_id,
    is_check,
  }: { id: string; created_by: string; request_id: string | null; is_check: boolean },
  outcome: 'succeeded' | 'failed' | 'cancelled',
): void {
  tx.announce('changes')
  const { workspace_id, now } = context
  if (request_id) tx.beforeCommit(showNotices, [{ workspace_id, held_by: request_id, now }])
  // A person waits for a check on its page.
  if (is_check || !created_by.startsWith('usr_')) return
  // The service ended it, unless somebody cancelled it.
  const actor = outcome === 'cancelled' ? context.actor : service
  const by = { ...context, actor }
  notify(tx, by, {
    kind: 'import_ended',
    user_id: created_by,
    record_kind: 'imports',
    record_id: id,
    outcome,
  })
}

/** Notifies the members who manage webhooks that one has failed: once, until they have read it. */
export function notifyOfFailure(tx: Tx, webhook: { workspace_id: number; id: string }, now: string): void {
  tx.announce('changes')
  const { workspace_id, id } = webhook
  const about = { kind: 'webhook_failed', record_kind: 'webhooks', record_id: id }
  const times = { occurred_at: now, changed_at: now }
  const source = `webhook_failed:${id}`
  const actor = storedActor(service)
  tx.beforeCommit(writeForManagers, [{ workspace_id, ...about, actor, source, ...times }])
}
