import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type Tx, transaction } from '../../src/db/db.ts'
import { lockRow } from '../../src/db/locks.ts'
import { prepare } from '../../src/db/statements/prepare.ts'
import { createCompany, deleteCompany, restoreCompany } from '../../src/resources/companies/operations.ts'
import { openOutbox } from '../outbox.ts'
import { until } from '../webhooks.ts'

const divide = prepare((p: { by: number }, db) => ({
  compile: () => sql`SELECT 1 / ${p.by}::int`.compile(db),
}))
const division_by_zero = { code: '22012' }

// Takes more turns of the microtask queue than the statement after it.
async function divideSlowly(tx: Tx) {
  try {
    await divide(tx, { by: 0 })
  } catch (error) {
    for (let turn = 0; turn < 20; turn++) await null
    throw error
  }
}

test('a transaction fails with the error of its first failed statement, also when others were sent with it', async (t) => {
  const { db, close } = await openOutbox()
  t.after(close)
  const deferred = transaction(db, async (tx) => {
    tx.defer(divideSlowly(tx))
    tx.defer(divide(tx, { by: 1 }))
  })
  await assert.rejects(deferred, division_by_zero)
  const awaited = transaction(db, (tx) => Promise.all([divideSlowly(tx), divide(tx, { by: 1 })]))
  await assert.rejects(awaited, division_by_zero)
})

test('a transaction whose deferred write fails before it is sent writes nothing', async (t) => {
  const { db, workspace_id, events, queue, close, webhook } = await openOutbox()
  t.after(close)
  await webhook('wh_a')
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const unsent = transaction(db, async (tx) => {
    await tx.updateTable('webhooks').set({ name: 'Changed' }).execute()
    tx.defer(writeRows(tx, circular))
  })
  await assert.rejects(unsent, /circular/)
  const { name } = await db
    .selectFrom('webhooks')
    .select('name')
    .where('workspace_id', '=', workspace_id)
    .executeTakeFirstOrThrow()
  assert.equal(name, null)
  await events(1)
  assert.equal((await queue()).length, 1)
})

// As the functions that write rows are nested.
async function writeRows(tx: Tx, rows: unknown): Promise<unknown> {
  const write = async () => divide(tx, { by: JSON.stringify(rows).length })
  return (async () => write())()
}

test('a statement that is issued after the end of its transaction is refused', async (t) => {
  const { db, close } = await openOutbox()
  t.after(close)
  // The other statement continues after the failure of the first one.
  let late: Promise<unknown> | null = null
  const work = async (tx: Tx) => {
    const other = divideSlowly(tx).catch(() => sql`SELECT 1`.execute(tx))
    late = other.catch(String)
    await divide(tx, { by: 0 })
  }
  await assert.rejects(transaction(db, work), division_by_zero)
  // The two errors may arrive apart. Then the statement is issued before the ROLLBACK, and the server refuses it.
  assert.match(String(await late), /The transaction has ended|division by zero/)
  // An unhandled rejection fails the test.
  const ended = await transaction(db, async (tx) => tx)
  assert.throws(() => ended.defer(Promise.resolve()), /transaction has ended/)
})

// Otherwise the restoration, a change of the record and the removal of a webhook could wait for each other.
test('a restoration locks the webhooks before its record, as every change does', async (t) => {
  const { db, context, webhook, close } = await openOutbox()
  t.after(close)
  await webhook('wh_a', { events: ['company.updated'] })
  const { id } = await transaction(db, (tx) => createCompany(tx, context(), { name: 'Atlas' }, []))
  const sent = { problems: [], expect() {} }
  await transaction(db, (tx) => deleteCompany(tx, context(), id, sent.expect))
  const free = sql`SELECT 1 FROM webhooks FOR UPDATE SKIP LOCKED`
  let restored: Promise<unknown> | null = null
  await transaction(db, async (holder) => {
    await lockRow(holder, 'companies', 1, id)
    restored = transaction(db, (tx) => restoreCompany(tx, context(), id, sent))
    await until(
      () => transaction(db, (tx) => free.execute(tx)),
      ({ rows }) => rows.length === 0,
    )
  })
  await restored
})
