// runs: both
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, removeScratch } from '../../test/engine.ts'
import { transaction } from './db.ts'
import { constraintOf, explainLoss } from './errors.ts'
import type { Tx } from './tx.ts'

test('a lost connection is explained once', () => {
  const lost = explainLoss(new Error('Connection terminated unexpectedly'))
  assert.match((lost as Error).message, /cannot be reached \(Connection terminated unexpectedly\)/)
  assert.equal(explainLoss(lost), lost)
})

test('a constraint has one name on both engines, and an error that is none has none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  const database = await openScratch(folder)
  const run = (text: string) => transaction(database.db, (tx: Tx) => sql.raw(text).execute(tx))
  const refusal = (text: string) =>
    run(text).then(
      () => assert.fail(`not refused: ${text}`),
      (error) => constraintOf(error),
    )
  try {
    await run(
      'CREATE TABLE rooms (house bigint, room bigint NOT NULL, CONSTRAINT rooms_size CHECK (room < 9))',
    )
    await run('CREATE UNIQUE INDEX rooms_room ON rooms (room)')
    await run('CREATE UNIQUE INDEX rooms_house_room ON rooms (house, room) WHERE house > 1')
    await run('INSERT INTO rooms VALUES (1, 1)')
    assert.equal(await refusal('INSERT INTO rooms VALUES (1, 1)'), 'rooms_room')
    await run('DROP INDEX rooms_room')
    await run('INSERT INTO rooms VALUES (2, 2)')
    assert.equal(await refusal('INSERT INTO rooms VALUES (2, 2)'), 'rooms_house_room')
    assert.equal(await refusal('INSERT INTO rooms VALUES (3, 9)'), 'rooms_size')
    assert.equal(await refusal('SELECT * FROM houses'), null)
    assert.equal(constraintOf(new Error('UNIQUE constraint failed: rooms.room')), null)
    assert.equal(constraintOf(undefined), null)
  } finally {
    await database.close()
    await removeScratch(folder)
  }
})
