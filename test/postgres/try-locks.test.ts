import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { backfillWork } from '../../src/across/backfills/run.ts'
import { day_ms, isoTime } from '../../src/clock.ts'
import { definitionWork } from '../../src/custom-fields/upkeep.ts'
import { type Tx, transaction } from '../../src/db/db.ts'
import { lockRow, lockText } from '../../src/db/locks.ts'
import { addWork } from '../../src/db/work.ts'
import { removeOldImports } from '../../src/imports/retention.ts'
import { claimImport, lockImport } from '../../src/imports/store.ts'
import { beginUndo } from '../../src/imports/undo.ts'
import { rooms } from '../../src/resources/index.ts'
import { fanOutWork } from '../../src/webhooks/delivery/fanouts.ts'
import { removeWebhook } from '../../src/webhooks/registration/removal.ts'
import { runWork } from '../../src/work/run.ts'
import { type Outbox, openOutbox } from '../outbox.ts'
import { until } from '../webhooks.ts'

// Processes that find the same work, or write the same rows.

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

const waiting = sql<{ n: string }>`SELECT count(*) AS n FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`

/** Runs work while another transaction holds what `lock` locks. */
async function whileLocked<T>(lock: (tx: Tx) => Promise<unknown>, work: () => Promise<T>): Promise<T> {
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

test('the work of a definition does not wait for a request that has the definition', async () => {
  const { db, workspace_id } = outbox
  await sql`INSERT INTO field_definitions (id, workspace_id, kind, key, label, type, options, is_required, is_unique, position,
    created_at, updated_at, status) VALUES (1, ${workspace_id}, 'deals', 'size', 'size', 'text', '[]', 0, 0, 0, '', '', 'removed')`.execute(
    db,
  )
  await transaction(db, async (tx) =>
    addWork(tx, outbox.context(), { kind: 'custom_field', subject: '1', state: 'removing' }),
  )
  const run = () => runWork(outbox, definitionWork, new AbortController().signal)
  const left = async () => (await db.selectFrom('work').select('id').execute()).length
  await whileLocked((tx) => lockRow(tx, 'field_definitions', workspace_id, 1), run)
  assert.equal(await left(), 1)
  await run()
  assert.equal(await left(), 0)
})

test('an old import stays when its undo begins while it is removed', async () => {
  const { db, clock, workspace_id } = outbox
  const old = isoTime(clock.now() - 40 * day_ms)
  await sql`INSERT INTO imports (id, workspace_id, resource, status, options, created_by, created_at, finished_at, lease_ends_ms)
    VALUES ('imp_1', ${workspace_id}, 'contacts', 'succeeded', '{}', 'key_test', ${old}, ${old}, 0)`.execute(
    db,
  )
  const undo = async (tx: Tx) => {
    const row = await lockImport(tx, workspace_id, 'imp_1')
    if (row) await beginUndo(tx, outbox.context(), row)
  }
  let removing: Promise<void> | undefined
  await whileLocked(undo, async () => {
    removing = removeOldImports(db, clock, 30)
    await until(
      () => waiting.execute(db),
      ({ rows: [found] }) => Number(found?.n) > 0,
    )
  })
  await removing
  const { status } = await db.selectFrom('imports').select('status').executeTakeFirstOrThrow()
  assert.equal(status, 'undone')
})

test('deliveries of a large transaction do not wait for a webhook that another transaction has locked', async () => {
  const { db, workspace_id } = outbox
  await outbox.webhook('wh_1')
  await outbox.webhook('wh_2')
  await outbox.events(1001)
  let draining: Promise<void> | undefined
  await whileLocked(
    (tx) => lockRow(tx, 'webhooks', workspace_id, 'wh_1'),
    async () => {
      draining = runWork(outbox, fanOutWork, new AbortController().signal)
      const queue = await until(outbox.queue, (all) => all.length === 1001)
      assert.deepEqual(new Set(queue.map(({ webhook_id }) => webhook_id)), new Set(['wh_2']))
    },
  )
  await draining
  assert.equal((await outbox.queue()).length, 2002)
  assert.deepEqual(await db.selectFrom('work').selectAll().execute(), [])
})

/** Makes the deliveries in the queue those of a backfill of webhook wh_1 that was stopped. */
async function stopBackfill(): Promise<void> {
  const context = outbox.context()
  await transaction(outbox.db, async (tx) => {
    await tx.updateTable('webhook_queue').set({ kind: 'backfill' }).execute()
    const position = { kinds: [], finished_at: context.now }
    addWork(tx, context, { kind: 'backfill', subject: 'wh_1', state: 'cancelled', position })
  })
}

/** Cancels deliveries of the stopped backfill, unless another process does; returns how many. */
async function cancelSome(): Promise<number> {
  const before = await outbox.queue()
  await runWork(outbox, backfillWork(rooms), new AbortController().signal)
  return before.length - (await outbox.queue()).length
}

test('a process does not wait while another one cancels the deliveries of a stopped backfill', async () => {
  await outbox.webhook('wh_1')
  await outbox.events(3)
  await stopBackfill()
  const lock = (tx: Tx) => tx.selectFrom('work').selectAll().forUpdate().execute()
  assert.equal(await whileLocked(lock, cancelSome), 0)
  assert.equal(await cancelSome(), 3)
  const [left] = await outbox.db.selectFrom('work').select('lease_ends_ms').execute()
  assert.equal(left?.lease_ends_ms, null)
})

/** Ten deliveries in flight, and work that ends them. The work has to lock the one with the lowest id first. */
async function assertLockOrder(work: () => Promise<unknown>): Promise<void> {
  const { db } = outbox
  const ids = (await outbox.queue()).map(({ delivery_id }) => delivery_id).sort()
  assert.equal(ids.length, 10)
  const [first = '', ...others] = ids
  // The leases end in the opposite order, so an index and the table have them in that order.
  for (const [at, delivery_id] of ids.toReversed().entries())
    await transaction(db, (tx) =>
      tx
        .updateTable('webhook_queue')
        .set({ claim_id: 'clm_1', run_at_ms: 1000 * (at + 1) })
        .where('delivery_id', '=', delivery_id)
        .execute(),
    )
  // With statistics, PostgreSQL reads the table from its start.
  await sql`ANALYZE webhook_queue`.execute(db)
  const lock = (tx: Tx, wanted: string[]) =>
    sql`SELECT 1 FROM webhook_queue WHERE delivery_id = ANY(${wanted}) FOR UPDATE NOWAIT`.execute(tx)
  let ending: Promise<unknown> | undefined
  await transaction(db, async (tx) => {
    await lock(tx, [first])
    ending = work()
    ending.catch(() => {})
    await until(
      () => waiting.execute(db),
      ({ rows: [found] }) => Number(found?.n) > 0,
    )
    // Fails if the work has one of them.
    await lock(tx, others)
  })
  await ending
  assert.deepEqual(await outbox.queue(), [])
}

test('a deletion of a webhook locks deliveries in flight in the order of their ids, as outcomes do', async () => {
  const { db } = outbox
  await outbox.webhook('wh_1')
  await outbox.events(10)
  await assertLockOrder(() => transaction(db, (tx) => removeWebhook(tx, outbox.context(), 'wh_1')))
})

test('a stopped backfill locks its deliveries in flight in the order of their ids, as outcomes do', async () => {
  await outbox.webhook('wh_1')
  await outbox.events(10)
  await stopBackfill()
  await assertLockOrder(cancelSome)
})
