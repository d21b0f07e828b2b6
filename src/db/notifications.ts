import { sql } from 'kysely'
import { prepare } from './statements/prepare.ts'
import { prepareRows } from './statements/recordset.ts'
import type { Tx } from './tx.ts'

// The statements behind events/notify.ts. Unread notifications of a member with the same source are one row, which counts
// the records. A partial unique index keeps this true under concurrent writes.

const columns = {
  workspace_id: 'bigint!',
  user_id: 'text!',
  kind: 'text!',
  record_kind: 'text!',
  record_id: 'text!',
  note_id: 'bigint',
  records: 'bigint!',
  outcome: 'text',
  actor: 'text!',
  source: 'text!',
  held_by: 'text',
  occurred_at: 'text!',
  changed_at: 'text!',
  mail_due: 'bigint!',
} as const

/** A notification that is not yet written. */
export type NewNotification = {
  workspace_id: number
  user_id: string
  kind: string
  record_kind: string
  record_id: string
  note_id: number | null
  records: number
  outcome: string | null
  actor: string
  source: string
  held_by: string | null
  occurred_at: string
  changed_at: string
  mail_due: number
}

const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)))
const together = sql`ON CONFLICT (workspace_id, user_id, source) WHERE read_at IS NULL DO UPDATE SET
  records = notifications.records + excluded.records, outcome = excluded.outcome, actor = excluded.actor,
  occurred_at = excluded.occurred_at, changed_at = excluded.changed_at`

const insertAll = prepareRows(
  columns,
  ({ row, values }) => sql`INSERT INTO notifications (${names}) ${values(Object.values(row))} ${together}`,
)

/** Writes notifications. Notifications of a member with the same source become one, with the sum of their records. */
export async function writeNotifications(tx: Tx, rows: readonly NewNotification[]): Promise<void> {
  const merged = new Map<string, NewNotification>()
  for (const row of rows) {
    const key = `${row.workspace_id} ${row.user_id} ${row.source}`
    const known = merged.get(key)
    merged.set(key, known ? { ...known, records: known.records + row.records } : row)
  }
  // The same order in every transaction, so that two of them cannot deadlock.
  const sorted = [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await insertAll(tx, sorted, {})
}

type ForManagers = Omit<NewNotification, 'user_id' | 'records' | 'note_id' | 'outcome' | 'held_by'>

/** Writes a notification for each member who manages webhooks: the owners and administrators. */
export const notifyManagers = prepare(
  (p: ForManagers) => sql`INSERT INTO notifications
      (workspace_id, user_id, kind, record_kind, record_id, actor, source, occurred_at, changed_at, mail_due)
    SELECT workspace_id, user_id, ${p.kind}, ${p.record_kind}, ${p.record_id}, ${p.actor}, ${p.source},
      ${p.occurred_at}, ${p.changed_at}, ${p.mail_due}
    FROM memberships WHERE workspace_id = ${p.workspace_id} AND role IN ('owner', 'admin')
    ORDER BY user_id ${together}`,
)

const show = prepare((p: { workspace_id: number; held_by: string; now: string }, db) =>
  db
    .updateTable('notifications')
    .set({ held_by: null, occurred_at: p.now, changed_at: p.now })
    .where((eb) => eb.and({ workspace_id: p.workspace_id, held_by: p.held_by })),
)

/** Shows the notifications that waited for the end of an import, by the import's request. */
export const showHeld = (tx: Tx, workspace_id: number, held_by: string, now: string): Promise<unknown> =>
  show(tx, { workspace_id, held_by, now })
