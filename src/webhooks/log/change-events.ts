import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import { lastSeq } from '../../db/event-order.ts'
import { Exact, Id, Timestamp, Titled } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { WebhookService } from '../service.ts'

const ChangeEvent = Titled('ChangeEvent', {
  id: Type.String({ examples: ['evt_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  event: Type.String({ examples: ['deal.won'] }),
  timestamp: Timestamp(),
})

// Transactions that overlap may commit in another order than that of their times. The events of a batch have one time.
const scanned_before = 1000
const scanned_after = 4000

/** Finds the events of one change of a record, so that they can be explained. */
export function changeEventsRoute(app: App, { db, rights }: WebhookService): void {
  const { group_of_kind } = rights
  const Query = Exact({
    kind: Type.Unsafe<string>({
      type: 'string',
      enum: [...group_of_kind.keys()],
      description: 'The kind of the record.',
    }),
    id: Id({ description: 'The id of the record.' }),
    at: Timestamp({ description: 'The time of the change, as a timeline or the audit log shows it.' }),
  })
  operation(
    app,
    {
      method: 'GET',
      path: '/api/v1/events/of-change',
      id: 'listEventsOfChange',
      scope: 'webhooks:read',
      summary: 'List the events of a change of a record',
      description:
        'In the order of `sequence`; empty if the change has no events, if they are no longer kept, or if the caller may not read this kind. `GET /events/{event_id}/explain` says who got them.',
      query: Query,
      answers: { 200: Type.Object({ success: Type.Literal(true), data: Type.Array(ChangeEvent) }) },
    },
    async ({ access: { workspace_id, scopes }, query: { kind, id, at } }) => {
      const group = group_of_kind.get(kind)
      const readable = group !== undefined && rights.mayRead(scopes, kind)
      const data = readable ? await eventsOf(db, { workspace_id, record_id: id, at, group }) : []
      return { success: true as const, data }
    },
  )
}

type Change = { workspace_id: number; record_id: number; at: string; group: string }
type Found = { id: string; event: string; timestamp: string }

// The times of events grow with their sequence, so a binary search finds the place without an index of records.
async function eventsOf(db: Db, { workspace_id, record_id, at, group }: Change): Promise<Found[]> {
  const place = await placeOf(db, workspace_id, at)
  const { rows } = await sql<Found>`
    SELECT id, event, occurred_at AS timestamp FROM events
    WHERE workspace_id = ${workspace_id} AND seq >= ${place - scanned_before} AND seq < ${place + scanned_after}
      AND record_id = ${record_id} AND occurred_at = ${at} AND event LIKE ${`${group}.%`} AND webhook_id IS NULL
    ORDER BY seq LIMIT 100`.execute(db)
  return rows
}

/** The seq of the first event of a time or later. */
async function placeOf(db: Db, workspace_id: number, at: string): Promise<number> {
  let [low, high] = [0, (await lastSeq(db)) + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const next = await db
      .selectFrom('events')
      .select(['seq', 'occurred_at'])
      .where('workspace_id', '=', workspace_id)
      .where('seq', '>=', middle)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst()
    if (next && next.occurred_at < at) low = next.seq + 1
    else high = middle
  }
  return low
}
