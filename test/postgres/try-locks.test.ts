import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { claimImport } from '../../src/across/imports/store.ts'
import { isoTime } from '../../src/clock.ts'
import { type Db, transaction } from '../../src/db/db.ts'
import { lockText } from '../../src/db/locks.ts'
import { cancelSomeOfBackfill, stoppedBackfill } from '../../src/webhooks/registration/removal.ts'
import { type Outbox, openOutbox } from '../outbox.ts'

// Jobs of several processes that find the same work.

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

/** Runs work while another transaction holds what `lock` locks. */
async function whileLocked<T>(lock: (tx: Db) => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const [locked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = transaction(outbox.db, async (tx) => {
    await lock(tx)
    locked.resolve()
    await done.promise
  })
  try {
    await Promise.race([locked.promise, holding])
    return await work()
  } finally {
    done.resolve()
    await holding
  }
}

test('a process does not wait for a lock while another one claims an import', async () => {
  const claim = () => claimImport(outbox.db, outbox.clock.elapsed(), isoTime(outbox.clock.now()))
  assert.equal(await whileLocked((tx) => lockText(tx, 'imports', 0, 'claim'), claim), 'busy')
  assert.equal(await claim(), null)
})

test('a process does not wait while another one cancels the deliveries of a stopped backfill', async () => {
  const { db, clock, workspace_id } = outbox
  const now = isoTime(clock.now())
  await outbox.webhook('wh_1')
  await outbox.events(3)
  await transaction(db, async (tx) => {
    await tx.updateTable('webhook_queue').set({ kind: 'backfill' }).execute()
    await tx
      .insertInto('webhook_backfills')
      .values({
        workspace_id,
        webhook_id: 'wh_1',
        status: 'cancelled',
        kinds: '[]',
        since: null,
        kind: null,
        last_id: 0,
        up_to: 0,
        total: 3,
        sent: 3,
        actor: '{}',
        request_id: null,
        started_at: now,
        finished_at: now,
      })
      .execute()
  })
  const cancel = async () => {
    const stopped = await stoppedBackfill(db)
    return (
      stopped &&
      transaction(db, (tx) => cancelSomeOfBackfill(tx, stopped, clock.elapsed(), { skip_locked: true }))
    )
  }
  const lock = (tx: Db) => tx.selectFrom('webhook_backfills').selectAll().forUpdate().execute()
  assert.equal(await whileLocked(lock, cancel), 0)
  assert.equal(await cancel(), 3)
  assert.equal(await cancel(), undefined)
})
