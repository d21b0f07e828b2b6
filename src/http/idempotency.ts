import { setTimeout as pause } from 'node:timers/promises'
import type { ExpressionBuilder } from 'kysely'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { troubleOf } from '../db/errors.ts'
import type { Seal } from '../db/seal.ts'
import { prepare } from '../db/statements/prepare.ts'
import type { Tables } from '../db/tables.ts'
import { badRequest, conflict } from '../errors.ts'

export type Idempotency = {
  workspace_id: number
  key_id: string
  path: string
  idempotency_key: string
  body_hash: string
  /** Service time, so that setting the clock does not change the age of an answer. */
  now_ms: number
}
export type StoredAnswer = { status: number; headers: Record<string, string>; body: string }

const kept_ms = 24 * 3600 * 1000
// No request takes longer, so a crash left an older reservation without an answer.
const max_flight_ms = 15 * 60 * 1000

type Name = Pick<Idempotency, 'workspace_id' | 'key_id' | 'path' | 'idempotency_key'>
const same =
  ({ workspace_id, key_id, path, idempotency_key }: Name) =>
  (eb: ExpressionBuilder<Tables, 'idempotency_keys'>) =>
    eb.and({ workspace_id, key_id, path, idempotency_key })

type Reservation = Name & { body_hash: string; now_ms: number }
const reserve = prepare((p: Reservation, db) => {
  const name = {
    workspace_id: p.workspace_id,
    key_id: p.key_id,
    path: p.path,
    idempotency_key: p.idempotency_key,
  }
  return db
    .insertInto('idempotency_keys')
    .values({ ...name, body_hash: p.body_hash, answer: null, created_at_ms: p.now_ms })
    .onConflict((conflict) => conflict.doNothing())
    .returning('path')
})
const keep = prepare((p: Name & { answer: string }, db) =>
  db.updateTable('idempotency_keys').set({ answer: p.answer }).where(same(p)),
)

/**
 * The stored answer of this key, or null after reserving the key in this transaction. Of two concurrent requests with one
 * key, the second waits at the primary key for the commit of the first. Throws 409 for another body or other parameters.
 */
export async function storedAnswer(
  tx: Tx,
  idempotency: Idempotency,
  seal: Seal,
): Promise<StoredAnswer | null> {
  const { now_ms, workspace_id, key_id, path, idempotency_key, body_hash } = idempotency
  const row = { workspace_id, key_id, path, idempotency_key, body_hash }
  if (!row.idempotency_key || row.idempotency_key.length > 255)
    throw badRequest('Idempotency-Key must have 1 to 255 characters.')
  const [reserved] = await reserve(tx, { ...row, now_ms })
  if (reserved) return null
  const before = await tx
    .selectFrom('idempotency_keys')
    .select(['body_hash', 'answer', 'created_at_ms'])
    .where(same(row))
    .executeTakeFirst()
  // The reservation was dropped between the two statements.
  if (!before) throw inFlight()
  const age_ms = now_ms - before.created_at_ms
  const abandoned = !before.answer && age_ms > max_flight_ms && before.body_hash === body_hash
  if (age_ms >= kept_ms || abandoned) {
    // Update only the row that was read. Of two concurrent requests, one takes the key over, and the other gets 409.
    const renewed = await tx
      .updateTable('idempotency_keys')
      .set({ body_hash, answer: null, created_at_ms: now_ms })
      .where(same(row))
      .where('created_at_ms', '=', before.created_at_ms)
      .executeTakeFirst()
    if (renewed.numUpdatedRows) return null
    throw inFlight()
  }
  if (before.body_hash !== row.body_hash)
    throw conflict(
      'key_of_another_body',
      'This Idempotency-Key was used with another body or with other parameters. Use a new key for a new request.',
    )
  if (!before.answer) throw inFlight()
  const answer = JSON.parse(seal.open(before.answer)) as StoredAnswer
  return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } }
}

const inFlight = () =>
  conflict('request_in_flight', 'The first request with this Idempotency-Key is still in flight. Try again.')

/** Stores the answer for 24 h. It is encrypted, because it may have a secret that is shown once. */
export function keepAnswer(tx: Tx, idempotency: Idempotency, answer: StoredAnswer, seal: Seal): void {
  const sealed = seal.seal(JSON.stringify(answer))
  tx.defer(keep(tx, { ...idempotency, answer: sealed }))
}

// Between two tries to free a key while the database is away.
const free_again_ms = 2000

type OnError = (error: unknown) => void

/**
 * Frees a key whose request failed after the reservation was committed. While the database is away, it does so later. Other
 * errors go to `onError`: repeated requests then get 409 until the reservation is too old.
 */
export async function dropReservation(db: Db, idempotency: Idempotency, onError: OnError): Promise<void> {
  const drop = () =>
    transaction(db, (tx) =>
      tx
        .deleteFrom('idempotency_keys')
        .where(same(idempotency))
        // A repeated request may have the key already.
        .where('created_at_ms', '=', idempotency.now_ms)
        .where('answer', 'is', null)
        .execute(),
    )
  const dropLater = async (tries: number): Promise<void> => {
    await pause(free_again_ms, undefined, { ref: false })
    await drop().catch((error) => failed(error, tries - 1))
  }
  const failed = (error: unknown, tries: number): void => {
    if (tries > 0 && troubleOf(error) !== null) void dropLater(tries)
    else onError(error)
  }
  await drop().catch((error) => failed(error, max_flight_ms / free_again_ms))
}

/** Frees the keys of all requests in flight: the processes that had them have ended. */
export async function freeReservations(tx: Tx, now_ms: number): Promise<void> {
  await tx
    .deleteFrom('idempotency_keys')
    .where('created_at_ms', '>=', now_ms - max_flight_ms)
    .where('answer', 'is', null)
    .execute()
}

/** Removes up to `limit` answers after 24 h; returns how many. */
export async function removeOldAnswers(tx: Tx, now_ms: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('idempotency_keys')
    .select(['workspace_id', 'key_id', 'path', 'idempotency_key'])
    .where('created_at_ms', '<=', now_ms - kept_ms)
    .limit(limit)
    .execute()
  // Check the age again: another request may have taken the key over.
  for (const row of old)
    await tx
      .deleteFrom('idempotency_keys')
      .where(same(row))
      .where('created_at_ms', '<=', now_ms - kept_ms)
      .execute()
  return old.length
}
