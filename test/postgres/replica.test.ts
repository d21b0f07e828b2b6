import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { calmTime } from '../calm-time.ts'
import { type Rapport, startRapport } from '../harness.ts'
import { createDatabase, databaseUrl, type Postgres, startPostgres, startStandby } from '../postgres.ts'
import { bestOfTen } from '../statements.ts'
import { until } from '../webhooks.ts'
import { startProxy } from './proxy.ts'

let primary: Postgres
let standby: Awaited<ReturnType<typeof startStandby>>
before(async () => {
  primary = await startPostgres({ settings: { wal_level: 'replica', max_wal_senders: 5 } })
  standby = await startStandby(primary.url)
})
after(async () => {
  await standby.stop()
  await primary.stop()
})

async function onReplica(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
  const connection = new pg.Client({ connectionString: databaseUrl(standby.url, database) })
  await connection.connect()
  try {
    return (await connection.query(sql)).rows
  } finally {
    await connection.end()
  }
}

const contact = (rapport: Rapport, name: string) =>
  rapport.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: name })

/** Each write is in the list and in the search that follow it, wherever they are read. */
async function checkOwnWrites(rapport: Rapport, prefix: string) {
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const { status, body } = await contact(rapport, `${prefix}${n}x`)
      assert.equal(status, 201)
      const found = await rapport.call('GET', `/api/v1/contacts?search=${prefix}${n}x`)
      assert.deepEqual(
        found.body.data.map(({ id }: { id: number }) => id),
        [body.data.id],
      )
      const listed = await rapport.call('GET', '/api/v1/contacts?per_page=100')
      assert.ok(listed.body.data.some(({ id }: { id: number }) => id === body.data.id))
      assert.ok(listed.body.meta.total >= listed.body.data.length)
    }),
  )
}

test('lists and searches are read from the replica, with every write that was acknowledged before', async (t) => {
  const DATABASE_URL = await createDatabase(primary.url, 'rapport')
  const DATABASE_REPLICA_URL = databaseUrl(standby.url, 'rapport')
  const rapport = await startRapport({ env: { DATABASE_URL, DATABASE_REPLICA_URL } })
  t.after(() => rapport.close())
  await checkOwnWrites(rapport, 'own')
  // A replica that is behind for a moment leaves lists to the primary. The server shows the last statement of each connection
  // at once, here the total of the list; it writes its counts of scans by its clock, some time later.
  await until(
    async () => {
      await rapport.call('GET', '/api/v1/companies')
      return onReplica(
        `SELECT count(*) AS n, pg_last_wal_receive_lsn() AS received, pg_last_wal_replay_lsn() AS replayed
          FROM pg_stat_activity WHERE application_name = 'rapport' AND query LIKE '%from "record_counts"%'`,
        'rapport',
      )
    },
    ([row]) => Number(row?.n) > 0,
  )

  // A replica that stands still is behind with the first write.
  await onReplica('SELECT pg_wal_replay_pause()')
  try {
    await checkOwnWrites(rapport, 'paused')
  } finally {
    await onReplica('SELECT pg_wal_replay_resume()')
  }
  await checkOwnWrites(rapport, 'resumed')
})

test('a replica that hangs or is away leaves the lists to the primary, and a start does not need it', async (t) => {
  const DATABASE_URL = await createDatabase(primary.url, 'rapport_alone')
  const proxy = await startProxy(t, databaseUrl(standby.url, 'rapport_alone'))
  const env = {
    DATABASE_URL,
    DATABASE_REPLICA_URL: proxy.url,
    SECRET_KEY: 'a key for tests, of 32 characters',
  }
  const rapport = await startRapport({ env })
  t.after(() => rapport.close())
  await checkOwnWrites(rapport, 'before')
  proxy.hang()
  for (let n = 0; n < 3; n++) {
    const { value, calm_ms } = await bestOfTen(
      () => calmTime(() => rapport.call('GET', '/api/v1/contacts')),
      (best) => best.calm_ms < 6000,
    )
    assert.equal(value.status, 200)
    assert.ok(calm_ms < 6000, `${calm_ms} ms`)
  }
  proxy.heal()
  await checkOwnWrites(rapport, 'healed')
  await standby.stop()
  await checkOwnWrites(rapport, 'alone')
  const later = await startRapport({ env })
  t.after(() => later.close())
  assert.equal((await fetch(`${later.url}/readyz`)).status, 200)
})
