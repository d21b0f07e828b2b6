import type { Moment } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import { engineOf } from '../../db/tx.ts'
import { insertAttempts, interruptedAttempt } from '../../webhooks/delivery/attempts.ts'
import { bytesOf, piecesOf } from './slices.ts'

const batch = 100

/** An event whose payload may be rewritten. */
export type EventText = { id: string; event: string; record_id: number | null; payload: string }

/**
 * Rewrites the payloads of events, so that later attempts send the new ones. It also removes the responses of finished
 * attempts and of attempts in flight: a response may repeat the payload.
 */
export async function rewriteEvents(
  db: Db,
  workspace_id: number,
  seqs: readonly number[],
  rewrite: (event: EventText) => string,
  moment: Moment,
): Promise<void> {
  for (let from = 0; from < seqs.length; from += batch) {
    const event_ids = await transaction(db, async (tx) => {
      const ids: string[] = []
      for (const piece of await sizesOf(tx, workspace_id, seqs.slice(from, from + batch)))
        ids.push(...(await rewritePiece(tx, workspace_id, piece, rewrite)))
      return ids
    })
    // Include events that an interrupted erasure has rewritten: it may have stopped before this step. Use another
    // transaction: now, processes that read the old payload hold its rows, and later ones read the new payload. An
    // event has a delivery for each webhook, so take few events at once on SQLite.
    const few = engineOf(db) === 'sqlite' ? 5 : batch
    if (event_ids.length)
      await transaction(db, async (tx) => {
        for (let first = 0; first < event_ids.length; first += few)
          await forgetAnswers(tx, workspace_id, event_ids.slice(first, first + few), moment)
      })
  }
}

/** The seqs of these events, in pieces that limit the bytes of their payloads. */
async function sizesOf(tx: Tx, workspace_id: number, seqs: readonly number[]): Promise<number[][]> {
  const sizes = await tx
    .selectFrom('events')
    .select(['seq', bytesOf('payload').as('bytes')])
    .where('workspace_id', '=', workspace_id)
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute()
  return [...piecesOf(sizes)].map((piece) => piece.map(({ seq }) => seq))
}

async function rewritePiece(
  tx: Tx,
  workspace_id: number,
  seqs: readonly number[],
  rewrite: (event: EventText) => string,
): Promise<string[]> {
  const events = await tx
    .selectFrom('events')
    .select(['seq', 'id', 'event', 'record_id', 'payload'])
    .where('workspace_id', '=', workspace_id)
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute()
  for (const event of events) {
    const after = rewrite(event)
    if (after === event.payload) continue
    await tx
      .updateTable('events')
      .set({ payload: after })
      .where((eb) => eb.and({ workspace_id, id: event.id }))
      .execute()
  }
  return events.map(({ id }) => id)
}

const deliveriesOf = (tx: Tx, workspace_id: number, event_ids: readonly string[]) =>
  tx
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('event_id', 'in', event_ids)

async function forgetAnswers(
  tx: Tx,
  workspace_id: number,
  event_ids: readonly string[],
  moment: Moment,
): Promise<void> {
  const deliveries = deliveriesOf(tx, workspace_id, event_ids)
  const taken = await takeLeases(tx, workspace_id, event_ids)
  // Wait until a resend with an old payload, or an attempt of a deleted webhook, has committed.
  if (tx.engine === 'postgres') await deliveries.orderBy('id').forNoKeyUpdate().execute()
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
  await insertAttempts(
    tx,
    taken.map((row) => interruptedAttempt({ ...row, url: row.url ?? '' }, Number(row.claimed_at_ms), moment)),
  )
}

/**
 * Takes and returns the leases of attempts in flight, so that their owners can no longer record an outcome. Each
 * delivery is due again at the end of its lease, and then sends the new payload. Until then it has no claim. An expired
 * claim would look like a crash, and make every process send one attempt at a time.
 */
async function takeLeases(tx: Tx, workspace_id: number, event_ids: readonly string[]) {
  const deliveries = deliveriesOf(tx, workspace_id, event_ids)
  // An uncommitted claim is invisible, so wait for its row. Lock in the order of the code that records outcomes: the queue
  // before the log, by ids.
  const queued = tx
    .selectFrom('webhook_queue as q')
    .select(['q.workspace_id', 'q.delivery_id', 'q.claim_id', 'q.claimed_at_ms'])
    .select((eb) =>
      eb.selectFrom('webhooks as w').select('w.url').whereRef('w.id', '=', 'q.webhook_id').as('url'),
    )
    .where('q.workspace_id', '=', workspace_id)
    .where('q.delivery_id', 'in', deliveries)
    .orderBy('q.delivery_id')
  const rows = await queued.modifyEnd(rowLock(tx, 'FOR UPDATE OF q')).execute()
  await tx
    .updateTable('webhook_queue')
    .set({ claim_id: null, claimed_at_ms: null })
    .where('workspace_id', '=', workspace_id)
    .where('delivery_id', 'in', deliveries)
    .where('claim_id', 'is not', null)
    .execute()
  return rows.filter(({ claim_id }) => claim_id !== null)
}
