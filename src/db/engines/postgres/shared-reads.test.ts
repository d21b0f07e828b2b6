import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { openScratch, removeScratch, settingsOf } from '../../../../test/engine.ts'
import { until } from '../../../../test/webhooks.ts'
import type { Database } from '../../db.ts'
import { prepare } from '../../statements/prepare.ts'
import { connectionOptions } from './connection.ts'
import { createSharedReads } from './shared-reads.ts'

const folder = '/shared-reads'
let database: Database
before(async () => {
  database = await openScratch(folder)
})
after(async () => {
  await database.close()
  await removeScratch(folder)
})

/** A read that takes the given number of seconds and returns its number. */
const read = prepare<{ number: number; seconds: number }, { number: number }>(
  ({ number, seconds }) =>
    sql<{ number: number }>`SELECT ${number}::int AS number FROM pg_sleep(${seconds}::float8)`,
)
const readMany = (count: number, seconds: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const [row] = await read(database.db, { number, seconds })
      assert.equal(row?.number, number)
    }),
  )

test('concurrent reads get their own answers', async () => {
  await readMany(500, 0)
})

test('concurrent reads share at most a third of the connections', async (t) => {
  const { DATABASE_URL = '' } = await settingsOf(folder)
  const pool = new pg.Pool({ ...connectionOptions(DATABASE_URL), max: 10 })
  t.after(() => pool.end())
  // The clock stands still, so no connection counts as slow.
  const share = createSharedReads(
    pool,
    () => false,
    () => 0,
  )
  const connections = await Promise.all(
    Array.from({ length: 500 }, () =>
      share(async (client) => (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid),
    ),
  )
  assert.equal(new Set(connections).size, 3)
})

/** Another connection to the database, which ends the connections that run a statement. */
async function administrator(t: TestContext) {
  const { DATABASE_URL } = await settingsOf(folder)
  const client = new pg.Client({ connectionString: DATABASE_URL })
  await client.connect()
  t.after(() => client.end())
  return {
    endActive: () =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`,
      ),
  }
}

test('a read does not wait for a slow one that began earlier', async (t) => {
  const { endActive } = await administrator(t)
  // Longer than other reads take on any busy machine. Each ends with its connection.
  const slow = Promise.allSettled(Array.from({ length: 12 }, () => readMany(1, 25)))
  let done = false
  void slow.then(() => {
    done = true
  })
  // Until the connections of the slow reads have answered nothing for a while.
  await pause(100)
  await readMany(5, 0)
  assert.ok(!done, 'the reads waited for the slow ones')
  await until(endActive, () => done)
})

test('no read fails when its connection is lost while others share it', async (t) => {
  const { endActive } = await administrator(t)
  // A read that is lost after 500 ms is not repeated. The clock stands still, so that a busy machine stays below.
  t.mock.method(performance, 'now', () => 0)
  let is_lost = false
  const reading = async () => {
    // Again while a busy machine ends no connection in time.
    do await readMany(30, 0.05)
    while (!is_lost)
  }
  const reads = reading()
  await until(endActive, ({ rows }) => rows.length > 0)
  is_lost = true
  await reads
})
