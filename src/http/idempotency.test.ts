// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openOutbox } from '../../test/outbox.ts'
import { transaction } from '../db/db.ts'
import { dropReservation } from './idempotency.ts'

const idempotency = {
  workspace_id: 1,
  key_id: 'key_1',
  path: '/api/v1/x',
  idempotency_key: 'once',
  body_hash: '',
  now_ms: 0,
}

test('a key that cannot be freed is reported, and one that is freed is not', async (t) => {
  const { db, close } = await openOutbox()
  t.after(close)
  const errors: unknown[] = []
  const drop = () => dropReservation(db, idempotency, (error) => errors.push(error))
  await transaction(db, async (tx) => {
    const { now_ms, ...row } = idempotency
    await tx
      .insertInto('idempotency_keys')
      .values({ ...row, answer: null, created_at_ms: now_ms })
      .execute()
    await sql`CREATE TRIGGER refuse BEFORE DELETE ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'refused'); END`.execute(
      tx,
    )
  })
  await drop()
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['refused'],
  )
  await transaction(db, (tx) => sql`DROP TRIGGER refuse`.execute(tx))
  await drop()
  assert.equal(errors.length, 1)
  assert.deepEqual(await db.selectFrom('idempotency_keys').selectAll().execute(), [])
})
