import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { type Db, type Tx, transaction } from '../../src/db/db.ts'
import { Overtaken } from '../../src/db/errors.ts'
import { limitLockWait } from '../../src/db/locks.ts'
import { calmTime } from '../calm-time.ts'
import { useStored } from '../database.ts'
import { openScratch, settingsOf } from '../engine.ts'
import { useRapport } from '../harness.ts'
import { bestOfTen } from '../statements.ts'

const one = useRapport({ waits: {} })
const stored = useStored(one)

async function contact(last_name: string): Promise<number> {
  const reply = await one.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}

test('two transactions that deadlock both succeed, one of them after a retry', async () => {
  const [a, b] = [await contact('A'), await contact('B')]
  const { db, close } = await openScratch(one.data_dir)
  const both = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let tries = 0
  let waiting = 0
  const title = (tx: Tx, id: number, text: string) =>
    sql`UPDATE contacts SET title = coalesce(title, '') || ${text} WHERE workspace_id = 1 AND id = ${id}`.execute(
      tx,
    )
  const lockBoth = (first: number, second: number, text: string) =>
    transaction(db, async (tx) => {
      // On a slow server, a retry that comes at once may take its first row again before the other one gets it.
      if (++tries > 2) await ended.promise
      await title(tx, first, text)
      if (++waiting === 2) both.resolve()
      await both.promise
      await title(tx, second, text)
    }).then(ended.resolve)
  await Promise.all([lockBoth(a, b, 'x'), lockBoth(b, a, 'y')])
  await close()
  assert.equal(tries, 3)
  for (const { title } of await stored.rows('SELECT title FROM contacts WHERE id IN (?, ?)', a, b))
    assert.equal([...String(title)].sort().join(''), 'xy')
})

/** Makes the database refuse companies with this name a number of times, as in a conflict with other transactions. */
async function meetOthers(failures: number): Promise<pg.Client> {
  const { DATABASE_URL } = await settingsOf(one.data_dir)
  const connection = new pg.Client({ connectionString: DATABASE_URL })
  await connection.connect()
  await connection.query(`
    CREATE SEQUENCE tries;
    CREATE FUNCTION meet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('tries') <= ${failures} THEN RAISE EXCEPTION 'met another one' USING ERRCODE = '40001'; END IF;
      RETURN new;
    END $$;
    CREATE TRIGGER meet BEFORE INSERT ON companies FOR EACH ROW WHEN (new.name = 'Unlucky') EXECUTE FUNCTION meet()`)
  return connection
}
const apart = 'DROP TRIGGER meet ON companies; DROP FUNCTION meet; DROP SEQUENCE tries'

test('a transaction that conflicts is retried three times, and then refused with 503, with nothing stored', async () => {
  for (const [failures, status] of [
    [3, 201],
    [4, 503],
  ] as const) {
    const connection = await meetOthers(failures)
    try {
      const reply = await one.call('POST', '/api/v1/companies', { name: 'Unlucky' })
      assert.equal(reply.status, status, reply.text)
      const { rows } = await connection.query('SELECT last_value FROM tries')
      assert.equal(Number(rows[0].last_value), 4)
      if (status === 503) {
        assert.equal(reply.body.error.code, 'unavailable')
        assert.ok(Number(reply.headers.get('retry-after')) >= 1)
      }
    } finally {
      await connection.query(apart)
      await connection.end()
    }
  }
  assert.equal((await stored.rows("SELECT 1 FROM companies WHERE name = 'Unlucky'")).length, 1)
  const events = await stored.rows("SELECT 1 FROM events WHERE payload LIKE '%Unlucky%'")
  assert.equal(events.length, 1)
})

test('every connection limits its statements, its waits for locks, and transactions that do nothing', async () => {
  const { db, close } = await openScratch(one.data_dir, {})
  const limits = async (on: Db) => {
    const shown = await sql<{ name: string; setting: string }>`
      SELECT name, setting FROM pg_settings WHERE name LIKE '%timeout'`.execute(on)
    return Object.fromEntries(shown.rows.map(({ name, setting }) => [name, Number(setting)]))
  }
  // More at once than one connection could answer.
  const all = await Promise.all(Array.from({ length: 10 }, () => limits(db)))
  await close()
  for (const { statement_timeout, lock_timeout, idle_in_transaction_session_timeout } of all) {
    assert.equal(statement_timeout, 30_000)
    assert.equal(lock_timeout, 5000)
    assert.equal(idle_in_transaction_session_timeout, 60_000)
  }
})

test('a wait for a connection shortens the waits for locks of a transaction, but not those of its retry', async () => {
  const { db, close } = await openScratch(one.data_dir, {})
  const limit = async (tx: Tx) =>
    (await sql<{ lock_timeout: string }>`SHOW lock_timeout`.execute(tx)).rows[0]?.lock_timeout
  const tries: unknown[] = []
  await transaction(
    db,
    async (tx) => {
      const first = await limit(tx)
      limitLockWait(tx, '50ms')
      limitLockWait(tx)
      tries.push([first, await limit(tx)])
      if (tries.length === 1) throw new Overtaken()
    },
    { since_ms: performance.now() - 60_000 },
  )
  await close()
  assert.equal(tries.length, 2)
  assert.deepEqual(tries[0], ['100ms', '100ms'])
  assert.notDeepEqual(tries[1], tries[0])
})

test('a row that is locked for too long is 503 with Retry-After, and nothing is changed', async (t) => {
  const id = await contact('Waiting')
  const { DATABASE_URL } = await settingsOf(one.data_dir)
  const holder = new pg.Client({ connectionString: DATABASE_URL })
  await holder.connect()
  t.after(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT 1 FROM contacts WHERE id = $1 FOR UPDATE', [id])
  const {
    value: reply,
    took_ms,
    calm_ms,
  } = await bestOfTen(
    () => calmTime(() => one.call('PUT', `/api/v1/contacts/${id}`, { title: 'New' })),
    (best) => best.calm_ms < 8000,
  )
  assert.deepEqual([reply.status, reply.body.error.code], [503, 'unavailable'], reply.text)
  assert.ok(Number(reply.headers.get('retry-after')) >= 1)
  assert.ok(took_ms > 4500 && calm_ms < 8000, `${took_ms} ms`)
  await holder.query('ROLLBACK')
  assert.equal((await one.call('GET', `/api/v1/contacts/${id}`)).body.data.title, null)
  assert.equal((await one.call('PUT', `/api/v1/contacts/${id}`, { title: 'New' })).status, 200)
})
