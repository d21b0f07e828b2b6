import { setImmediate as others } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Db, transaction } from '../db/db.ts'
import type { Deletable } from '../db/records.ts'

const kinds: Record<string, Deletable> = {
  contact: 'contacts',
  company: 'companies',
  deal: 'deals',
  activity: 'activities',
  appointment: 'appointments',
}

/** The kind of the record that an event such as `deal.won` is about. */
export const kindOf = (event: string): Deletable | undefined => kinds[event.split('.')[0] ?? '']

/** An event as it is judged: which record it is of. */
export type SeenEvent = { seq: number; event: string; record_id: number | null }

// So many are read in about three milliseconds.
const slice = 1000
const batch = 100

/**
 * Looks through all events of a workspace, without holding anything up, and returns the numbers of those that are
 * wanted. There is no index by record: it would cost every change for the sake of an operation that is rare.
 */
export async function findEvents(
  db: Db,
  workspace_id: number,
  wanted: (event: SeenEvent) => boolean,
): Promise<number[]> {
  const found: number[] = []
  for (let after = 0; ; ) {
    const { rows } = await sql<SeenEvent>`
      SELECT seq, event, record_id FROM events
      WHERE workspace_id = ${workspace_id} AND seq > ${after} ORDER BY seq LIMIT ${slice}`.execute(db)
    found.push(...rows.filter(wanted).map(({ seq }) => seq))
    const last = rows.at(-1)
    if (!last || rows.length < slice) return found
    after = last.seq
    // SQLite answers at once: without a turn for them, nobody else would be served until the end.
    await others()
  }
}

/** An event whose text may be written anew. */
export type StoredEvent = { id: string; event: string; record_id: number | null; payload: string }

/**
 * Writes the texts of events anew: what is still to be delivered goes out as it is now. Of deliveries that were made,
 * what the receiver answered goes too: it may hold what it was sent.
 */
export async function rewriteEvents(
  db: Db,
  workspace_id: number,
  seqs: readonly number[],
  rewrite: (event: StoredEvent) => string,
): Promise<void> {
  for (let from = 0; from < seqs.length; from += batch)
    await transaction(db, async (tx) => {
      const events = await tx
        .selectFrom('events')
        .select(['seq', 'id', 'event', 'record_id', 'payload'])
        .where('workspace_id', '=', workspace_id)
        .where('seq', 'in', seqs.slice(from, from + batch))
        .orderBy('seq')
        .execute()
      const changed = events
        .map((event) => ({ ...event, after: rewrite(event) }))
        .filter(({ payload, after }) => payload !== after)
      for (const { id, after } of changed)
        await tx
          .updateTable('events')
          .set({ payload: after })
          .where('workspace_id', '=', workspace_id)
          .where('id', '=', id)
          .execute()
      // Those whose text was erased by an attempt before, too: it may have ended in between.
      const ids = events.map(({ id }) => id)
      if (ids.length) await forgetAnswers(tx, workspace_id, ids)
    })
}

async function forgetAnswers(tx: Db, workspace_id: number, event_ids: readonly string[]): Promise<void> {
  const deliveries = tx
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('event_id', 'in', event_ids)
  await tx
    .updateTable('webhook_attempts')
    .set((eb) => ({
      response_body: null,
      response_headers: null,
      error_message: eb
        .case()
        .when('error_message', 'is', null)
        .then(null)
        .else('The details were erased.')
        .end(),
    }))
    .where('workspace_id', '=', workspace_id)
    .where('delivery_id', 'in', deliveries)
    .execute()
}
