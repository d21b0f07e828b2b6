// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readStored } from '../../../test/database.ts'
import { openScratch } from '../../../test/engine.ts'
import { type Rapport, startRapport, turnableClock } from '../../../test/harness.ts'
import { runJobs } from '../../../test/jobs.ts'
import { until } from '../../../test/webhooks.ts'
import { readConfig } from '../../config.ts'
import { type Database, type Db, transaction } from '../../db/db.ts'
import { pending_removal } from '../../db/records.ts'
import { createSeal } from '../../db/seal.ts'
import { resources } from '../../resources/index.ts'
import { emptyTrash } from './retention.ts'

const day_ms = 24 * 3600 * 1000
let clock: ReturnType<typeof turnableClock>
let rapport: Rapport
let call: Rapport['call']
let database: Database
beforeEach(async () => {
  clock = turnableClock()
  rapport = await startRapport({ clock, env: { SECRET_KEY: 'a key for tests, of 32 characters' } })
  call = rapport.call
  database = await openScratch(rapport.data_dir)
})
afterEach(async () => {
  await database.close()
  await rapport.close()
})

const api = '/api/v1'
async function ok(method: string, path: string, body?: object) {
  const reply = await call(method, api + path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body
}
const make = async (path: string, body: object): Promise<number> => (await ok('POST', path, body)).data.id
const seal = createSeal('a key for tests, of 32 characters')
const deps = (trash_days = 30) => ({ db: database.db, clock, seal, resources, trash_days })
const inTrash = async () => (await ok('GET', '/trash')).meta.total

test('what was deleted goes for good when its days are over, not a millisecond before, and leaves no loose end', async () => {
  assert.equal(readConfig({}).trash_days, 30)
  const company_id = await make('/companies', { name: 'Acme', custom_fields: { region: 'EMEA' } })
  const contact_id = await make('/contacts', {
    first_name: 'Ana',
    last_name: 'Ruiz',
    company_id,
    tags: ['vip'],
  })
  const deal_id = await make('/deals', { name: 'Seats', contact_id, company_id })
  const note = await make(`/contacts/${contact_id}/notes`, { body: 'Met at the fair' })
  const refers = { contact_id, company_id, deal_id }
  const activity = await make('/activities', { type: 'task', subject: 'Kept', ...refers })
  const colleague = await make('/contacts', { first_name: 'Bo', last_name: 'Berg', company_id })
  const kept = [`/activities/${activity}`, `/contacts/${colleague}`]
  for (const path of [`/deals/${deal_id}`, `/contacts/${contact_id}`, `/companies/${company_id}`])
    await ok('DELETE', path)
  const [{ removed_at }] = (await ok('GET', '/trash')).data
  clock.advance(1)
  const later = await make('/companies', { name: 'Later' })
  await ok('DELETE', `/companies/${later}`)
  const shown = await Promise.all(kept.map((path) => ok('GET', path)))

  clock.advance(30 * day_ms - 2)
  await emptyTrash(deps())
  assert.equal(await inTrash(), 4)
  clock.advance(1)
  assert.equal(removed_at, new Date(clock.now()).toISOString())
  await emptyTrash(deps())
  assert.deepEqual(
    (await ok('GET', '/trash')).data.map(({ id }: { id: number }) => id),
    [later],
  )
  for (const path of [`/deals/${deal_id}`, `/contacts/${contact_id}`, `/companies/${company_id}`])
    assert.equal((await call('POST', `${api}${path}/restore`)).status, 404)
  // Readers see no change: the references read null before.
  assert.deepEqual(await Promise.all(kept.map((path) => ok('GET', path))), shown)

  const stored = await readStored(rapport.data_dir)
  const rows = async (table: string, columns: string, where = '1 = 1') =>
    (await stored.rows(`SELECT ${columns} FROM ${table} WHERE ${where}`)).map((row) => Object.values(row))
  assert.deepEqual(await rows('notes', 'id'), [])
  assert.deepEqual(await rows('deal_stages', 'id'), [])
  assert.deepEqual(await rows('field_values', 'field'), [])
  assert.deepEqual(await rows('activities', 'contact_id, company_id, deal_id'), [[null, null, null]])
  assert.deepEqual(await rows('contacts', 'id, company_id'), [[colleague, null]])
  assert.deepEqual(await rows('deals', 'id'), [])
  assert.deepEqual(
    await rows('record_counts', 'name', "name LIKE '%_id=%' AND name NOT LIKE 'deliveries.%'"),
    [],
  )
  await stored.close()

  for (const [kind, id] of [
    ['contacts', contact_id],
    ['deals', deal_id],
    ['notes', note],
  ] as const) {
    const entries = (await ok('GET', `/audit-log?kind=${kind}&record_id=${id}`)).data
    const actions = entries.map(({ action }: { action: string }) => action)
    assert.deepEqual(actions, kind === 'notes' ? ['created'] : ['removed', 'deleted', 'created'])
    for (const { before, after } of entries) assert.deepEqual([before, after], [null, null])
  }
})

test('a long trash goes batch by batch, and two processes at once remove each record once', async () => {
  const company_id = await make('/companies', { name: 'Acme' })
  for (let n = 0; n < 450; n++) {
    const id = await make('/contacts', { first_name: 'Ana', last_name: String(n), company_id })
    await ok('DELETE', `/contacts/${id}`)
  }
  const other = await openScratch(rapport.data_dir)
  clock.advance(30 * day_ms)
  await Promise.all([emptyTrash(deps()), emptyTrash({ ...deps(), db: other.db })])
  await other.close()
  assert.equal(await inTrash(), 0)
  const stored = await readStored(rapport.data_dir)
  const [removed] = await stored.rows("SELECT count(*) AS n FROM audit_log WHERE action = 'removed'")
  const contacts = await stored.rows('SELECT id FROM contacts')
  await stored.close()
  assert.deepEqual([removed, contacts], [{ n: 450 }, []])
  const { data } = await ok('GET', `/companies/${company_id}`)
  assert.equal(data.name, 'Acme')
})

test('a reference to a record in the trash keeps it back no more than a restored record loses it', async () => {
  const contact_id = await make('/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const deal = await make('/deals', { name: 'Seats', contact_id })
  await ok('DELETE', `/deals/${deal}`)
  clock.advance(day_ms)
  await ok('DELETE', `/contacts/${contact_id}`)
  clock.advance(29 * day_ms)
  await ok('POST', `/deals/${deal}/restore`)
  clock.advance(day_ms)
  await emptyTrash(deps())
  const { data } = await ok('GET', `/deals/${deal}`)
  assert.deepEqual([data.contact_id, data.contact, await inTrash()], [null, null, 0])
  assert.equal((await ok('GET', '/deals')).meta.total, 1)
})

test('the trash is emptied soon after a start and periodically, until the stop', async () => {
  const remove = async () => ok('DELETE', `/companies/${await make('/companies', { name: 'Acme' })}`)
  await remove()
  clock.advance(2 * day_ms)
  const soon = { first_ms: 30, every_ms: 100 }
  const { stop, errors } = runJobs(['trash'], soon, deps(1))
  await until(inTrash, 0)
  await remove()
  clock.advance(2 * day_ms)
  await until(inTrash, 0)
  await stop()
  await remove()
  clock.advance(2 * day_ms)
  await pause(150)
  assert.equal(await inTrash(), 1)
  assert.deepEqual(errors, [])
})

/** A database whose transactions each wait for something before they begin. */
function heldDb(db: Db, wait: () => Promise<unknown>): Db {
  return new Proxy(db, {
    get(target, name) {
      if (name === 'transaction')
        return () => ({
          execute: async (work: (tx: never) => Promise<unknown>) => {
            await wait()
            return target.transaction().execute(work as never)
          },
        })
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test('a stop ends the emptying after the transaction under way, and is over before the database is closed', async () => {
  const contact_id = await make('/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const page = await make('/booking-pages', { slug: 'demo', title: 'Demo', time_zone: 'UTC' })
  for (const path of [`/contacts/${contact_id}`, `/booking-pages/${page}`]) await ok('DELETE', path)
  clock.advance(2 * day_ms)
  let begun = 0
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  const db = heldDb(database.db, () => {
    begun++
    return held
  })
  // Again and again while the first one is not done: there is only one at a time.
  const soon = { first_ms: 1, every_ms: 5 }
  const { stop, errors } = runJobs(['trash'], soon, { ...deps(1), db })
  await until(
    async () => begun,
    (n) => n > 0,
  )
  await pause(50)
  assert.equal(begun, 1)
  let over = false
  const stopped = stop().then(() => {
    over = true
  })
  await pause(20)
  assert.equal(over, false)
  goOn()
  await stopped
  await database.close()
  await pause(50)
  assert.deepEqual([begun, errors], [1, []])
  database = await openScratch(rapport.data_dir)
  assert.equal(await inTrash(), 2)
  await emptyTrash(deps(1))
  assert.equal(await inTrash(), 0)
})

test('while removal is held an erasure is done to the end, and leave is asked for by the removal alone', async () => {
  const [half, old] = [
    await make('/contacts', { first_name: 'Ana', last_name: 'Half' }),
    await make('/contacts', { first_name: 'Ana', last_name: 'Old' }),
  ]
  for (const id of [half, old]) await ok('DELETE', `/contacts/${id}`)
  await transaction(database.db, async (tx) => {
    await tx
      .updateTable('contacts')
      .set({ deleted_at: pending_removal.erasing })
      .where('id', '=', half)
      .execute()
  })
  clock.advance(2 * day_ms)
  for (const held of [false, true]) {
    let asked = 0
    const mayRemove = async () => {
      asked++
      return false
    }
    const left = async () =>
      (await database.db.selectFrom('contacts').select('id').execute()).map(({ id }) => id)
    const once = { first_ms: 1, every_ms: day_ms }
    const { stop, errors } = runJobs(['trash', 'interrupted erasures'], once, { ...deps(1), held, mayRemove })
    await until(
      async () => ({ asked, ids: await left() }),
      (now) => now.asked > 0 && now.ids.length === (held ? 1 : 2),
    )
    await stop()
    assert.deepEqual([asked, errors, (await left()).includes(old)], [1, [], true])
  }
})

test('an erasure that fails keeps no other of its kind from being done, nor what is old from being removed', async () => {
  const ids: number[] = []
  for (const last_name of ['Broken', 'Half', 'Old'])
    ids.push(await make('/contacts', { first_name: 'Ana', last_name }))
  const [broken = 0, half = 0, old = 0] = ids
  for (const id of ids) await ok('DELETE', `/contacts/${id}`)
  await transaction(database.db, async (tx) => {
    const erasing = tx.updateTable('contacts').set({ deleted_at: pending_removal.erasing })
    await erasing.where('id', 'in', [broken, half]).execute()
    const event = tx.updateTable('events').set({ payload: '{' }).where('event', '=', 'contact.created')
    await event.where('record_id', '=', broken).execute()
  })
  clock.advance(2 * day_ms)
  await assert.rejects(emptyTrash(deps(1)), SyntaxError)
  const left = await database.db.selectFrom('contacts').select('id').execute()
  assert.deepEqual(
    left.map(({ id }) => id),
    [broken],
  )
  const lastOf = async (id: number) =>
    (await ok('GET', `/audit-log?kind=contacts&record_id=${id}`)).data[0] as { action: string; actor: object }
  // No key is the actor: the requester is not stored.
  assert.deepEqual(
    [await lastOf(half), await lastOf(old)].map(({ action, actor }) => [action, actor]),
    ['erased', 'removed'].map((action) => [action, { kind: 'service', id: null, name: null }]),
  )
})
