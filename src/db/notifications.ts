import { setImmediate as turn } from 'node:timers/promises'
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
}

const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)))
const together = sql`ON CONFLICT (workspace_id, user_id, source) WHERE read_at IS NULL DO UPDATE SET
  records = notifications.records + excluded.records, outcome = excluded.outcome, actor = excluded.actor,
  occurred_at = excluded.occurred_at, changed_at = excluded.changed_at`

/** A notification that is new to its member: nothing was counted up. */
export type Fresh = Pick<
  NewNotification,
  | 'workspace_id'
  | 'user_id'
  | 'kind'
  | 'record_kind'
  | 'record_id'
  | 'records'
  | 'outcome'
  | 'actor'
  | 'source'
>
const fresh = sql`workspace_id, user_id, kind, record_kind, record_id, records, outcome, actor, source`

/** The rest of a written row is that of the sent one. */
type Written = Pick<Fresh, 'workspace_id' | 'user_id' | 'source' | 'records'>

const insertAll = prepareRows(
  columns,
  ({ row, values }) =>
    sql<Written>`INSERT INTO notifications (${names}) ${values(Object.values(row))} ${together}
      RETURNING workspace_id, user_id, source, records`,
)

// The notifications that are sorted and written in one turn of the event loop: a batch may make 100,000.
const slice = 1000

/**
 * Writes notifications, and returns the new ones that are shown. Notifications of a member with the same source become one,
 * with the sum of their records.
 */
export async function writeNotifications(tx: Tx, rows: readonly NewNotification[]): Promise<Fresh[]> {
  const shown: Fresh[] = []
  let some: NewNotification[] = []
  async function write(): Promise<void> {
    const own = new Map(some.map((row) => [keyOf(row), row]))
    for (const written of await insertAll(tx, some, {})) {
      const row = own.get(keyOf(written))
      if (row?.held_by === null && Number(written.records) === row.records) shown.push(row)
    }
    some = []
  }
  const of_member = await groupedBy(rows, ({ workspace_id, user_id }) => `${workspace_id} ${user_id}`)
  // The same order in every transaction, so that two of them cannot deadlock.
  for (const [, own] of [...of_member].sort(([a], [b]) => (a < b ? -1 : 1))) {
    some.push(...(own.length > 1 ? merged(own) : own))
    if (some.length < slice) continue
    await write()
    await turn()
  }
  if (some.length) await write()
  return shown
}

// The rows that are grouped in one turn.
const grouped_at_once = 10_000

/** The rows by their keys, as Map.groupBy, without blocking the event loop. */
export async function groupedBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): Promise<Map<string, Row[]>> {
  const groups = new Map<string, Row[]>()
  for (const [n, row] of rows.entries()) {
    if (n > 0 && n % grouped_at_once === 0) await turn()
    const key = keyOf(row)
    const own = groups.get(key)
    if (own) own.push(row)
    else groups.set(key, [row])
  }
  return groups
}

const keyOf = ({ workspace_id, user_id, source }: Omit<Written, 'records'>) =>
  `${workspace_id} ${user_id} ${source}`

/** The notifications of a member, one for each source, in the order of the sources. */
function merged(rows: readonly NewNotification[]): NewNotification[] {
  const found = new Map<string, NewNotification>()
  for (const row of rows) {
    const known = found.get(row.source)
    found.set(row.source, known ? { ...known, records: known.records + row.records } : row)
  }
  return [...found.values()].sort((a, b) => (a.source < b.source ? -1 : 1))
}

type ForManagers = Omit<NewNotification, 'user_id' | 'records' | 'note_id' | 'outcome' | 'held_by'>

/** Writes a notification for each member who manages webhooks: the owners and administrators. Returns the new ones. */
export const notifyManagers = async (tx: Tx, row: ForManagers): Promise<Fresh[]> =>
  (await insertForManagers(tx, row)).filter(({ records }) => Number(records) === 1)

const insertForManagers = prepare(
  (p: ForManagers) => sql<Fresh>`INSERT INTO notifications
      (workspace_id, user_id, kind, record_kind, record_id, actor, source, occurred_at, changed_at)
    SELECT workspace_id, user_id, ${p.kind}, ${p.record_kind}, ${p.record_id}, ${p.actor}, ${p.source},
      ${p.occurred_at}, ${p.changed_at}
    FROM memberships WHERE workspace_id = ${p.workspace_id} AND role IN ('owner', 'admin')
    ORDER BY user_id ${together} RETURNING ${fresh}`,
)

/** Shows the notifications that waited for the end of an import, by the import's request. Returns those. */
export const showHeld = prepare(
  (p: { workspace_id: number; held_by: string; now: string }) => sql<Fresh>`UPDATE notifications
    SET held_by = NULL, occurred_at = ${p.now}, changed_at = ${p.now}
    WHERE workspace_id = ${p.workspace_id} AND held_by = ${p.held_by} RETURNING ${fresh}`,
)
