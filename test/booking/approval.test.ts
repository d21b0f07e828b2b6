import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '../../src/db/db.ts'
import { ana, fieldOf, type Made, makePage, visitor } from '../booking.ts'
import { useStored } from '../database.ts'
import { engine } from '../engine.ts'
import { refused } from '../envelope.ts'
import { type Rapport, turnableClock, useRapport } from '../harness.ts'
import { beside } from '../keys.ts'
import { until } from '../webhooks.ts'

// A page with approval: a visitor asks, somebody answers.

const clock = turnableClock()
const hour_ms = 3_600_000
const rapport = useRapport({ clock, removal: { first_ms: 50, every_ms: 50 } })
const stored = useStored(rapport)

let slugs = 0
const page = (fields: object = {}): Promise<Made> =>
  makePage(rapport, { slug: `asks-${++slugs}`, approval: true, minimum_notice_minutes: 0, ...fields })

const call: Rapport['call'] = (method, path, ...rest) => rapport.call(method, `/api/v1${path}`, ...rest)

/** A visitor asks for a time of a page, by default for one a week ahead. */
async function ask(slug: string, day = 7) {
  const { get, post } = visitor(rapport.url)
  const from = new Date(clock.now() + day * 24 * hour_ms).toISOString()
  const free = JSON.parse((await get(`/book/${slug}/slots?from=${from}`)).text).data as { start_at: string }[]
  const slot = free[0]?.start_at ?? ''
  const form = await get(`/book/${slug}?slot=${slot}`)
  const answer = await post(`/book/${slug}`, { ...ana, slot, token: fieldOf(form.text, 'token') })
  assert.equal(answer.status, 303, answer.text)
  const link = String(answer.location.split('?')[0])
  const [appointment] = (await call('GET', '/appointments?per_page=1')).body.data
  return { form: form.text, slot, link, appointment, path: `/appointments/${appointment.id}`, get, post }
}
const namesOf = async (id: number) => (await stored.events('appointment', id)).map(({ event }) => event)

test('a booking on a page with approval is a request: it holds its time, and no event tells of it', async () => {
  const { slug, id } = await page()
  const { form, slot, link, appointment, get, post } = await ask(slug)
  assert.match(form, /Request this time/)
  assert.match(form, /Somebody confirms each booking here/)
  assert.equal(appointment.status, 'requested')
  assert.deepEqual(await namesOf(appointment.id), [])
  // The time is held: for other visitors, and for the API.
  const free = JSON.parse((await get(`/book/${slug}/slots?from=${slot}`)).text).data as { start_at: string }[]
  assert.notEqual(free[0]?.start_at, slot)
  const again = await post(`/book/${slug}`, { ...ana, slot, email: 'other@example.com', token: 'x' })
  assert.equal(again.status, 409)
  const { start_at, end_at } = appointment
  const clash = { title: 'Mine', start_at, end_at, booking_page_id: id }
  refused(await call('POST', '/appointments', clash), 409, 'conflict')
  // The text that the visitor sees.
  const { text } = await get(link)
  assert.match(text, /<h1>Your request is sent<\/h1>/)
  assert.match(text, /not booked yet/)
  const file = (await get(`${link}/calendar.ics`)).text
  assert.match(file, /\r\nSTATUS:TENTATIVE\r\n/)
  assert.match(file.replaceAll('\r\n ', ''), /Not confirmed yet/)
  const list = (await call('GET', `/appointments?status=requested&booking_page_id=${id}`)).body
  assert.equal(list.meta.total, 1)
})

test('an accepted request is scheduled, with appointment.created once, and the visitor sees it', async () => {
  const { appointment, path, link, get } = await ask((await page()).slug)
  const reply = await call('POST', `${path}/accept`)
  assert.deepEqual([reply.status, reply.body.data.status], [200, 'scheduled'])
  assert.equal((await call('POST', `${path}/accept`)).text, reply.text)
  const events = await stored.events('appointment', appointment.id)
  assert.deepEqual(
    events.map(({ event }) => event),
    ['appointment.created'],
  )
  assert.deepEqual(Object.keys(events[0]?.data ?? {}).sort(), [
    'booking_page_id',
    'contact_id',
    'end_at',
    'id',
    'start_at',
    'title',
    'type',
  ])
  assert.match((await get(link)).text, /<h1>You are booked<\/h1>/)
  assert.match((await get(`${link}/calendar.ics`)).text, /\r\nSTATUS:CONFIRMED\r\n/)
  const log = (await call('GET', `/audit-log?kind=appointments&record_id=${appointment.id}`)).body.data
  assert.deepEqual(
    log.map(({ action }: { action: string }) => action),
    ['accepted', 'created'],
  )
  refused(await call('POST', `${path}/decline`, {}), 409, 'conflict')
})

test('a declined request frees its time, tells no event, and the visitor sees it', async () => {
  const { slug } = await page()
  const { appointment, path, link, slot, get } = await ask(slug)
  const reply = await call('POST', `${path}/decline`, { reason: 'On holiday' })
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual([reply.body.data.status, reply.body.data.cancel_reason], ['declined', 'On holiday'])
  assert.equal((await call('POST', `${path}/decline`, {})).text, reply.text)
  refused(await call('POST', `${path}/accept`), 409, 'conflict')
  assert.equal((await call('POST', `${path}/cancel`, {})).body.data.status, 'declined')
  const { text } = await get(link)
  assert.match(text, /<h1>This request was not accepted<\/h1>/)
  assert.ok(!text.includes('On holiday'))
  // In German, a request has another gender than an appointment.
  const { text: german } = await get(link, { 'accept-language': 'de' })
  assert.match(german, /Diese Anfrage wurde nicht angenommen.*Niemand hat sie bestätigt/s)
  assert.doesNotMatch(german, /\b(ihn|Er)\b/)
  assert.match((await get(`${link}/calendar.ics`)).text, /\r\nSTATUS:CANCELLED\r\n/)
  assert.equal((await ask(slug)).slot, slot)
  // A change, a deletion or a restore of a request emits no event.
  await call('PUT', path, { notes: 'Asked for March' })
  await call('DELETE', path)
  await call('POST', `${path}/restore`)
  assert.deepEqual(await namesOf(appointment.id), [])
})

test('a visitor moves and withdraws a request as an appointment, without an event', async () => {
  const { slug } = await page()
  const { appointment, link, get, post, path } = await ask(slug)
  const free = JSON.parse((await get(`/book/${slug}/slots?from=${appointment.end_at}`)).text).data
  const moved = await post(`${link}/move`, { slot: free[3].start_at })
  assert.equal(moved.status, 303, moved.text)
  const after = (await call('GET', path)).body.data
  assert.deepEqual([after.status, after.start_at], ['requested', free[3].start_at])
  assert.equal((await post(`${link}/cancel`, { reason: 'No time' })).status, 303)
  const last = (await call('GET', path)).body.data
  assert.deepEqual([last.status, last.cancel_reason], ['declined', 'No time'])
  assert.deepEqual(await namesOf(appointment.id), [])
})

test('a request without an answer lapses after 48 hours, or at its start, and can no longer be accepted', async () => {
  const { slug } = await page()
  const long = await ask(slug, 10)
  const soon = await ask(slug, 3)
  assert.match((await long.get(long.link)).text, /Without an answer by then the request ends/)
  clock.advance(48 * hour_ms - 1000)
  assert.equal((await call('GET', long.path)).body.data.status, 'requested')
  clock.advance(1000)
  for (const { path } of [long, soon]) {
    const { data } = (
      await until(
        () => call('GET', path),
        ({ body }) => body.data.status === 'declined',
      )
    ).body
    assert.equal(data.cancel_reason, 'Nobody answered in time.')
    refused(await call('POST', `${path}/accept`), 409, 'conflict')
  }
  const nearest = await ask(slug, 0)
  clock.advance(Date.parse(nearest.slot) - clock.now())
  refused(await call('POST', `${nearest.path}/accept`), 409, 'conflict')
  await until(
    () => call('GET', nearest.path),
    ({ body }) => body.data.status === 'declined',
  )
})

test('a page without approval books at once, and what was asked before a change of the page stays a request', async () => {
  const { slug, id } = await page()
  const asked = await ask(slug)
  await call('PUT', `/booking-pages/${id}`, { approval: false })
  const { appointment } = await ask(slug)
  assert.equal(appointment.status, 'scheduled')
  assert.deepEqual(await namesOf(appointment.id), ['appointment.created'])
  assert.equal((await call('GET', asked.path)).body.data.status, 'requested')
})

/** Makes every change of an appointment fail, as a broken row would; returns what mends it. */
async function spoil(id: number): Promise<() => Promise<void>> {
  const run = (...statements: string[]) =>
    beside(rapport.data_dir, (db) =>
      transaction(db, async (tx) => {
        for (const statement of statements) await sql.raw(statement).execute(tx)
      }),
    )
  const trigger = `CREATE TRIGGER spoil BEFORE UPDATE ON appointments FOR EACH ROW WHEN (new.id = ${id})`
  if (engine === 'sqlite') {
    await run(`${trigger} BEGIN SELECT RAISE(ABORT, 'spoilt'); END`)
    return () => run('DROP TRIGGER spoil')
  }
  await run(
    "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'spoilt'; END $$",
    `${trigger} EXECUTE FUNCTION spoil()`,
  )
  return () => run('DROP TRIGGER spoil ON appointments', 'DROP FUNCTION spoil')
}

test('a request that cannot be declined does not keep the later ones from lapsing', async () => {
  const { slug } = await page()
  const broken = await ask(slug, 10)
  clock.advance(1000)
  const later = await ask(slug, 11)
  const mend = await spoil(broken.appointment.id)
  clock.advance(48 * hour_ms)
  const declined = ({ path }: { path: string }) =>
    until(
      () => call('GET', path),
      ({ body }) => body.data.status === 'declined',
    )
  await declined(later)
  assert.equal((await call('GET', broken.path)).body.data.status, 'requested')
  await mend()
  await declined(broken)
})
