import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { calmTime } from '../calm-time.ts'
import { settingsOf } from '../engine.ts'
import { type Rapport, startRapport } from '../harness.ts'
import { bestOfTen } from '../statements.ts'

let rapport: Rapport
let other: pg.Client
before(async () => {
  rapport = await startRapport({ waits: {} })
  const { DATABASE_URL: connectionString } = await settingsOf(rapport.data_dir)
  other = new pg.Client({ connectionString })
  await other.connect()
})
after(async () => {
  await other.end()
  await rapport.close()
})

const path = '/api/v1/companies'

test('records that another transaction has locked hold up their own changes only', async () => {
  const { call } = rapport
  const ids: number[] = []
  for (const name of ['Nordwind Logistik', 'Nordwind Handel', 'Nordwind Holding'])
    ids.push((await call('POST', path, { name })).body.data.id)
  await other.query('BEGIN')
  await other.query('SELECT 1 FROM companies WHERE id = ANY($1) FOR UPDATE', [ids])
  let changed = 0
  const changes = ids.map(async (id) => {
    const { status } = await call('PATCH', `${path}/${id}`, { name: 'Nordwind Spedition' })
    changed++
    return status
  })
  // One after the other, and so in transactions of their own, then together.
  for (let n = 0; n < 5; n++) assert.equal((await call('POST', path, { name: `Beispiel ${n}` })).status, 201)
  const names = Array.from({ length: 20 }, (_, n) => `Beispiel ${n}`)
  const made = await Promise.all(names.map((name) => call('POST', path, { name })))
  assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]))
  assert.equal(changed, 0)
  await other.query('COMMIT')
  assert.deepEqual(await Promise.all(changes), [200, 200, 200])
})

test('changes of a locked record wait beside each other, and not one after the other', async () => {
  const { call } = rapport
  const { id } = (await call('POST', path, { name: 'Nordwind Werft' })).body.data
  await other.query('BEGIN')
  await other.query('SELECT 1 FROM companies WHERE id = $1 FOR UPDATE', [id])
  const industries = ['Schiffbau', 'Reparatur', 'Handel', 'Bergung']
  const { value: changed, calm_ms } = await bestOfTen(
    () =>
      calmTime(() => Promise.all(industries.map((industry) => call('PATCH', `${path}/${id}`, { industry })))),
    (best) => best.calm_ms < 15_000,
  )
  await other.query('ROLLBACK')
  assert.deepEqual(
    changed.map(({ status }) => status),
    [503, 503, 503, 503],
  )
  // One after the other, they take 20 s. The second one waits for the first one's place, and then for the record.
  assert.ok(calm_ms < 15_000, `${calm_ms} ms`)
})

test('writes that waited in vain for the commits before them are refused together, and leave nothing', async () => {
  const { call } = rapport
  const before = (await call('GET', path)).body.meta.total
  // Each transaction of a workspace takes this lock with its COMMIT (src/db/event-order.ts).
  await other.query('SELECT pg_advisory_lock(7239052, id::int) FROM workspaces')
  const names = Array.from({ length: 20 }, (_, n) => `Nordwind Kontor ${n}`)
  const { value: made, calm_ms } = await bestOfTen(
    () => calmTime(() => Promise.all(names.map((name) => call('POST', path, { name })))),
    (best) => best.calm_ms < 9_000,
  )
  await other.query('SELECT pg_advisory_unlock_all()')
  assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([503]))
  assert.equal((await call('GET', path)).body.meta.total, before)
  // A wait takes 5 s. Members that wait a second time, alone, take 10 s.
  assert.ok(calm_ms < 9_000, `${calm_ms} ms`)
})
