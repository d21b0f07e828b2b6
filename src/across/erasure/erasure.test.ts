// runs: both
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { visitor } from '../../../test/booking.ts'
import { readStored } from '../../../test/database.ts'
import { engine } from '../../../test/engine.ts'
import { dataOf } from '../../../test/envelope.ts'
import { type Rapport, startRapport, turnableClock } from '../../../test/harness.ts'
import { beside } from '../../../test/keys.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'
import { act, delivery, log, register, total, until } from '../../../test/webhooks.ts'
import { catalogue } from '../../app.ts'
import { type Db, transaction } from '../../db/db.ts'
import { normaliseText } from '../../db/lists/normalise.ts'
import { pending_removal } from '../../db/records.ts'
import { createSeal } from '../../db/seal.ts'
import { resources } from '../../resources/index.ts'
import { emptyTrash } from '../trash/retention.ts'

const clock = turnableClock()
let rapport: Rapport
let receiver: Receiver
let call: Rapport['call']
beforeEach(async () => {
  rapport = await startRapport({ clock, env: { SECRET_KEY: 'a key for tests, of 32 characters' } })
  call = rapport.call
  // A receiver that answers with what it was sent, as some do.
  receiver = await startReceiver({
    answer: ({ body }) => ({ status: 200, body, headers: { 'x-echo': encodeURI(body.slice(0, 900)) } }),
  })
})
afterEach(async () => {
  await rapport.close()
  await receiver.close()
})

const api = '/api/v1'
const ok = async (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  dataOf(await call(method, api + path, body, headers))
const auditOf = async (kind: string, id: number) =>
  (await ok('GET', `/audit-log?kind=${kind}&record_id=${id}`)) as Record<string, unknown>[]

const person = {
  first_name: 'Zébuline',
  last_name: 'Quørndale',
  email: 'zq.private@quux.example',
  phone: '+49 151 2347 9981',
  mobile: '0160 7788 1234',
}
const former = { last_name: 'Maidenhart', phone: '+49 30 5550 7171' }
// Nothing of it may be left: in any case, also without accents, as the search and the orders keep it.
const traces = [
  ...Object.values(person),
  ...Object.values(former),
  'a private word',
  'xylotag',
  'fieldsecret',
  'xylostage',
]
// A visitor who wrote with the person's e-mail, and gave another name and number.
const typed = { first_name: 'Wilhelmina', last_name: 'Trasketh', phone: '+49 170 4433 221' }
traces.push(...Object.values(typed))
const times = (hour: number) => ({
  start_at: `2026-12-01T${hour}:00:00.000Z`,
  end_at: `2026-12-01T${hour}:30:00.000Z`,
})

async function settled() {
  await until(() => total(call, 'status=pending'), 0)
}

/** A deleted person with all possible data, which a webhook received before. */
async function makePerson() {
  const company = await ok('POST', '/companies', { name: 'Acme', custom_fields: { region: 'EMEA' } })
  const named = { 'idempotency-key': 'make the person' }
  const { id } = await ok(
    'POST',
    '/contacts',
    {
      ...person,
      ...former,
      company_id: company.id,
      tags: ['xylotag'],
      stage: 'xylostage',
      custom_fields: { note: 'fieldsecret' },
    },
    named,
  )
  await ok('PUT', `/contacts/${id}`, { last_name: person.last_name, phone: person.phone })
  const note = await ok('POST', `/contacts/${id}/notes`, { body: `a private word of ${person.first_name}` })
  const gone = await ok('POST', `/contacts/${id}/notes`, { body: 'a private word, deleted' })
  await ok('DELETE', `/contacts/${id}/notes/${gone.id}`)
  const deal = await ok('POST', '/deals', {
    name: '40 seats',
    value: 12500.5,
    source: 'A fair',
    contact_id: id,
    company_id: company.id,
  })
  await ok('POST', `/deals/${deal.id}/change-stage`, { stage: 'lost', lost_reason: 'Chose another' })
  const activity = await ok('POST', '/activities', {
    type: 'call',
    subject: 'Call',
    body: 'About the offer',
    contact_id: id,
    company_id: company.id,
    deal_id: deal.id,
    due_at: times(10).start_at,
  })
  await ok('POST', `/activities/${activity.id}/complete`, { outcome: 'Agrees' })
  await ok('POST', '/custom-fields', { resource: 'appointments', key: 'code', type: 'text', unique: true })
  const questions = ['wish', 'code'].map((key) => ({ key, label: key, type: 'text' }))
  const page = await ok('POST', '/booking-pages', {
    slug: 'demo',
    title: 'Demo',
    time_zone: 'UTC',
    questions,
  })
  const meeting = await ok('POST', '/appointments', {
    title: 'Demo',
    location: 'Video',
    notes: 'Ring before',
    ...times(10),
    contact_id: id,
    booking_page_id: page.id,
  })
  await ok('POST', `/appointments/${meeting.id}/cancel`, { reason: 'Is ill' })
  const visit = await ok('POST', '/appointments', {
    title: 'Demo',
    notes: 'a private word from the visitor',
    contact_id: id,
    ...times(12),
  })
  await beside(rapport.data_dir, (db) =>
    transaction(db, (tx) =>
      tx.updateTable('appointments').set({ link_hash: 'h' }).where('id', '=', visit.id).execute(),
    ),
  )
  await ok('PUT', `/appointments/${visit.id}`, { location: 'Room 1' })
  const visits = await makeVisits(id)
  // It was about the person once.
  const moved = await ok('POST', '/deals', { name: 'Was theirs', contact_id: id })
  await ok('PUT', `/deals/${moved.id}`, { name: 'Moved', contact_id: null })
  const older = await ok('POST', '/deals', { name: 'Old', contact_id: id })
  await ok('PUT', `/deals/${older.id}`, { contact_id: null })
  // As before the audit log existed: only the events have it.
  await beside(rapport.data_dir, (db) =>
    transaction(db, (tx) =>
      tx
        .deleteFrom('audit_log')
        .where('kind', '=', 'deals')
        .where('record_id', '=', String(older.id))
        .execute(),
    ),
  )
  return { id, company, note, deal, activity, meeting, visit, moved, page, visits }
}

/** The appointments that the person booked, as staff changed them: by now, nothing of it refers to the contact. */
async function makeVisits(id: number) {
  const { get, post } = visitor(rapport.url)
  const book = async (hour: number) => {
    const slot = `2026-11-24T${hour}:00:00.000Z`
    const answers = { answer_wish: 'a private word as an answer', answer_code: `a private word ${hour}` }
    const wish = { ...typed, email: person.email, message: 'a private word from the form', slot, ...answers }
    const { status, location } = await post('/book/demo', wish)
    assert.equal(status, 303)
    const [booked] = await ok('GET', `/appointments?contact_id=${id}&sort=-created_at`)
    assert.match(booked.notes, /from the form\n\nName: Wilhelmina Trasketh\nPhone: \+49 170 4433 221$/)
    return { path: location.split('?')[0] as string, id: booked.id as number }
  }
  const moved = await book(10)
  const other = await ok('POST', '/contacts', { first_name: 'Otto', last_name: 'Other' })
  await ok('PUT', `/appointments/${moved.id}`, { location: 'Room 2', contact_id: other.id })
  const cancelled = await book(11)
  await post(`${cancelled.path}/cancel`, { reason: 'a private word about why' })
  await ok('PUT', `/appointments/${cancelled.id}`, { contact_id: null })
  const deleted = await book(12)
  await ok('PUT', `/appointments/${deleted.id}`, { contact_id: other.id, notes: 'a private word of staff' })
  await ok('DELETE', `/appointments/${deleted.id}`)
  // Its days in the trash are over: events and entries without their sides are left.
  await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      await tx.deleteFrom('appointments').where('id', '=', deleted.id).execute()
      const values = tx.deleteFrom('field_values').where('kind', '=', 'appointments')
      await values.where('record_id', '=', deleted.id).execute()
      const entries = tx.updateTable('audit_log').where('kind', '=', 'appointments')
      await entries.set({ before: null, after: null }).where('record_id', '=', String(deleted.id)).execute()
    }),
  )
  return { moved, cancelled, other, get }
}

test('after an erasure no byte of the database has a value of the contact, its notes, or what it wrote as a visitor', async (t) => {
  const hook = { url: receiver.url, events: catalogue.map(({ name }) => name) }
  await register(call, hook)
  const { id, company, deal, activity, meeting, visit, moved, visits } = await makePerson()
  const namesake = await ok('POST', '/contacts', { first_name: 'Zebulon', last_name: 'Quorn', tags: ['vip'] })
  const about = await ok('POST', '/deals', { name: 'Zebulon Quorn: 3 seats', contact_id: namesake.id })
  await settled()
  // Delivered to the active webhook, pending for the paused one.
  const paused = await register(call, hook)
  await act(call, paused.id, 'pause')
  await ok('PUT', `/contacts/${id}`, { title: 'Buyer' })
  await ok('DELETE', `/contacts/${id}`)
  const untouched = [`/contacts/${namesake.id}`, `/deals/${about.id}`, `/companies/${company.id}`]
  const before = await Promise.all(untouched.map((path) => ok('GET', path)))
  const paths = [`/deals/${deal.id}`, `/activities/${activity.id}`, `/appointments/${meeting.id}`]
  const linked = await Promise.all(paths.map((path) => ok('GET', path)))
  await until(() => total(call, 'status=pending'), 2)
  const deliveries = await log(call, 'per_page=100&event=contact.created')

  const reply = await call('DELETE', `${api}/trash/contacts/${id}`)
  assert.deepEqual([reply.status, reply.body], [200, { success: true, message: 'The contact was erased.' }])
  assert.equal((await call('DELETE', `${api}/trash/contacts/${id}`)).status, 404)
  assert.equal((await call('POST', `${api}/contacts/${id}/restore`)).status, 404)

  // Other records stay as they were, also those that staff wrote about the person.
  assert.deepEqual(await Promise.all(untouched.map((path) => ok('GET', path))), before)
  assert.deepEqual(await Promise.all(paths.map((path) => ok('GET', path))), linked)
  assert.equal((await ok('GET', `/appointments/${visit.id}`)).notes, null)
  assert.equal((await ok('GET', `/deals/${moved.id}`)).name, 'Moved')
  assert.equal((await ok('GET', `/deals?contact_id=${id}`)).length, 0)
  await seeVisits(visits)

  // The payload shows the erasure, and receivers still get the event with the remaining data.
  const first = deliveries.at(-1)
  const { attempts } = await delivery(call, String(first?.id))
  const body = JSON.parse(attempts[0]?.request.body ?? '')
  assert.deepEqual(Object.keys(body), [
    'id',
    'event',
    'timestamp',
    'sequence',
    'webhook_id',
    'data',
    'actor',
    'source',
    'api_version',
    'erased_at',
  ])
  assert.deepEqual(
    [body.data.id, body.data.email, body.erased_at],
    [id, null, new Date(clock.now()).toISOString()],
  )
  assert.deepEqual([attempts[0]?.response?.status, attempts[0]?.response?.body], [200, ''])
  await act(call, paused.id, 'resume')
  await settled()
  const late = receiver.received.slice(-2).map(({ body }) => JSON.parse(body))
  assert.deepEqual(
    late.map(({ event, data, previous }) => [event, data.id, data.first_name, previous]),
    ['contact.updated', 'contact.deleted'].map((event) => [event, id, null, undefined]),
  )
  assert.ok(late.every(({ erased_at }) => erased_at))

  const entries = await auditOf('contacts', id)
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['erased', 'deleted', 'updated', 'updated', 'created'],
  )
  assert.ok(entries.every((entry) => entry.before === null && entry.after === null))
  const [last] = entries as { actor: { kind: string } }[]
  assert.equal(last?.actor.kind, 'key')

  await rapport.stop()
  if (engine === 'sqlite')
    await beside(rapport.data_dir, async (db) => {
      // Outside of any transaction, by SQLite itself.
      await sql`PRAGMA query_only = 0`.execute(db)
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db)
      await sql`VACUUM`.execute(db)
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db)
    })
  const stored = await readStored(rapport.data_dir)
  t.after(() => stored.close())
  const contents = (await stored.contents()).toString().toLowerCase()
  assert.ok(contents.includes('zebulon quorn'), `what is kept is not found: ${readdirSync(rapport.data_dir)}`)
  for (const trace of traces)
    for (const form of [trace.toLowerCase(), normaliseText(trace)])
      assert.ok(!contents.includes(form), `${form} is still there`)
  const left = await stored.rows('SELECT name FROM record_counts WHERE name LIKE ?', `%.contact_id=${id}`)
  assert.deepEqual(left, [])
  assert.deepEqual(await stored.rows('SELECT id FROM notes'), [])
})

test('free text of other records that mentions the person stays, and the copy of the person beside it goes', async () => {
  const { id } = await ok('POST', '/contacts', person)
  const named = { name: `40 seats for ${person.first_name}`, contact_id: id }
  const deal = await ok('POST', '/deals', named)
  await ok('DELETE', `/contacts/${id}`)
  await ok('DELETE', `/trash/contacts/${id}`)
  const { name, contact, updated_at } = await ok('GET', `/deals/${deal.id}`)
  assert.deepEqual([name, contact, updated_at], [named.name, null, deal.updated_at])
  const stored = await readStored(rapport.data_dir)
  const [event] = (await stored.events('deal', deal.id)) as { data: typeof deal }[]
  await stored.close()
  assert.deepEqual([event?.data.name, event?.data.contact, event?.data.contact_id], [named.name, null, id])
  const [entry] = (await auditOf('deals', deal.id)) as { after: typeof deal }[]
  assert.deepEqual([entry?.after.name, entry?.after.contact_id], [named.name, id])
})

type Made = Awaited<ReturnType<typeof makePerson>>

/** A visitor's texts are gone from records that staff gave to another contact, and from the visitor's own page. */
async function seeVisits({ moved, cancelled, other, get }: Made['visits']) {
  const booked = await ok('GET', `/appointments/${moved.id}`)
  assert.deepEqual(
    [booked.title, booked.location, booked.notes, booked.contact_id],
    ['Demo', 'Room 2', null, other.id],
  )
  const { notes, cancel_reason, custom_fields } = await ok('GET', `/appointments/${cancelled.id}`)
  assert.deepEqual([notes, cancel_reason, custom_fields], [null, null, {}])
  assert.deepEqual(
    await ok('GET', `/appointments?custom_fields%5Bcode%5D=${encodeURIComponent('a private word 11')}`),
    [],
  )
  for (const path of [moved.path, `${moved.path}/calendar.ics`, cancelled.path, `${moved.path}/cancel`]) {
    const { status, text } = await get(path)
    assert.equal(status, 200)
    for (const trace of traces) assert.ok(!text.includes(trace), `${path} has ${trace}`)
  }
}

test('an erasure that a crash interrupted anywhere cannot be undone, and the next process completes it', async () => {
  const { id } = await makePerson()
  const another = await makeAnother()
  for (const contact of [id, another]) await ok('DELETE', `/contacts/${contact}`)
  // As far as processes came that died after their first transaction.
  await beside(rapport.data_dir, (db) =>
    transaction(db, (tx) =>
      tx.updateTable('contacts').set({ deleted_at: pending_removal.erasing }).execute(),
    ),
  )
  assert.equal((await call('GET', `${api}/trash?kind=contacts`)).body.meta.total, 0)
  await ok('DELETE', `/trash/contacts/${another}`)
  const seal = createSeal('a key for tests, of 32 characters')
  const erase = (most: number) =>
    beside(rapport.data_dir, (db) =>
      emptyTrash({ db: cutAfter(db, most), clock, seal, resources, trash_days: 30 }).then(
        () => true,
        (error: Error) => assert.equal(error.message, 'cut short'),
      ),
    )
  let cuts = 0
  while (!(await erase(cuts))) {
    cuts++
    assert.equal((await call('POST', `${api}/contacts/${id}/restore`)).status, 404)
  }
  assert.ok(cuts > 8, `${cuts}`)
  await Promise.all([erase(1000), erase(1000)])
  for (const contact of [id, another]) {
    const entries = await auditOf('contacts', contact)
    assert.deepEqual(entries.filter(({ action }) => action === 'erased').length, 1)
  }
  const stored = await readStored(rapport.data_dir)
  const rows = [
    await stored.rows('SELECT payload FROM events'),
    await stored.rows('SELECT before, after FROM audit_log'),
    await stored.rows('SELECT subject, body, outcome FROM activities'),
    await stored.rows('SELECT title, type, location, notes, cancel_reason FROM appointments'),
  ]
  await stored.close()
  for (const trace of traces) assert.ok(!JSON.stringify(rows).includes(trace), trace)
})

/** A database that begins a number of transactions, and fails at the next. */
function cutAfter(db: Db, most: number): Db {
  let begun = 0
  return new Proxy(db, {
    get(target, name) {
      if (name === 'transaction' && ++begun > most) throw new Error('cut short')
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const makeAnother = async () => (await ok('POST', '/contacts', { first_name: 'Bo', last_name: 'Berg' })).id

test('many records and events that refer to the person are all done, and stored answers that show it go', async () => {
  const { id } = await ok('POST', '/contacts', person, { 'idempotency-key': 'a' })
  const other = await ok(
    'POST',
    '/contacts',
    { first_name: 'Bo', last_name: 'Berg' },
    { 'idempotency-key': 'b' },
  )
  for (let n = 0; n < 450; n++) await ok('POST', '/deals', { name: `${n} seats`, contact_id: id })
  await ok('POST', '/deals', { name: 'One', contact_id: id }, { 'idempotency-key': 'c' })
  const deal = await ok('POST', '/deals', { name: 'Two', contact_id: id }, { 'idempotency-key': 'd' })
  await ok('DELETE', `/contacts/${id}`)
  // The contact is in the trash, so this answer does not show it.
  await ok('POST', `/deals/${deal.id}/change-stage`, { stage: 'won' }, { 'idempotency-key': 'e' })
  await ok('DELETE', `/trash/contacts/${id}`)
  const stored = await readStored(rapport.data_dir)
  const contents = (await stored.rows('SELECT name FROM deals'))
    .concat(await stored.rows('SELECT payload FROM events'))
    .concat(await stored.rows('SELECT before, after FROM audit_log'))
  const keys = await stored.rows('SELECT idempotency_key FROM idempotency_keys ORDER BY 1')
  const [linked] = await stored.rows('SELECT count(*) AS n FROM deals WHERE contact_id IS NOT NULL')
  await stored.close()
  assert.ok(!JSON.stringify(contents).includes(person.first_name))
  assert.deepEqual([keys, linked], [[{ idempotency_key: 'b' }, { idempotency_key: 'e' }], { n: 0 }])
  assert.equal((await ok('GET', `/contacts/${other.id}`)).first_name, 'Bo')
  assert.equal((await call('GET', `${api}/deals`)).body.meta.total, 452)
})
