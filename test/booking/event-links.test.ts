import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '../../src/db/db.ts'
import { ana, type Made, openPage } from '../booking.ts'
import { dataOf } from '../envelope.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { beside, makeKey } from '../keys.ts'

const rapport = useRapport({ clock: turnableClock() })

const slot = '2026-11-23T09:00:00.000Z'
const later = { start_at: '2026-11-23T11:00:00.000Z', end_at: '2026-11-23T11:30:00.000Z' }
const change = async (method: string, path: string, body?: object) => {
  const reply = await rapport.call(method, `/api/v1${path}`, body)
  assert.ok(reply.status < 300, reply.text)
}
async function booked(fields: object) {
  const opened = await openPage(rapport, fields)
  const { location } = await opened.post(opened.path, { ...ana, slot })
  const [{ id }] = dataOf(await rapport.call('GET', `/api/v1/appointments?booking_page_id=${opened.page.id}`))
  return { ...opened, id, path: `/appointments/${id}`, link: rapport.url + location.split('?')[0] }
}
/** The events of an appointment, in order, with the links that they have. */
async function linksIn(id: number) {
  const events: Made[] = dataOf(await rapport.call('GET', '/api/v1/events?per_page=100&sort=timestamp'))
  return events
    .filter(({ event, data }) => event.startsWith('appointment.') && data.id === id)
    .map(({ event, cancel_url, reschedule_url, data }) => {
      assert.ok(!('cancel_url' in data || 'reschedule_url' in data))
      return [event, cancel_url, reschedule_url]
    })
}

test('events of a booking have the links that cancel and move it; they are null when it is cancelled', async () => {
  const { id, path, link, get } = await booked({ links_in_events: true })
  const links = [`${link}/cancel`, `${link}/move`] as const
  for (const url of links) assert.equal((await get(url.replace(rapport.url, ''))).status, 200)
  await change('PUT', path, later)
  await change('POST', `${path}/cancel`, {})
  await change('PUT', path, { location: 'Room 2' })
  assert.deepEqual(await linksIn(id), [
    ['appointment.created', ...links],
    ['appointment.updated', ...links],
    ['appointment.cancelled', null, null],
    ['appointment.updated', null, null],
  ])
})

test('an accepted request, and a booking that leaves the trash, have them, too', async () => {
  const { id, path, link } = await booked({ links_in_events: true, approval: true })
  await change('POST', `${path}/accept`, {})
  await change('DELETE', path)
  await change('POST', `${path}/restore`)
  assert.deepEqual(await linksIn(id), [
    ['appointment.created', `${link}/cancel`, `${link}/move`],
    ['appointment.cancelled', null, null],
    ['appointment.updated', `${link}/cancel`, `${link}/move`],
  ])
})

test('both are null for a booking whose link is not stored', async () => {
  const { id, path } = await booked({ links_in_events: true })
  await beside(rapport.data_dir, (db) =>
    transaction(db, (tx) => sql`UPDATE bookings SET token = NULL`.execute(tx)),
  )
  await change('PUT', path, later)
  assert.deepEqual((await linksIn(id)).at(-1), ['appointment.updated', null, null])
})

test('events of other appointments, and of a page that does not add them, have neither', async () => {
  const plain = await booked({})
  await change('PUT', plain.path, later)
  const { page } = await openPage(rapport, { links_in_events: true })
  const body = { title: 'By a member', booking_page_id: page.id, ...later }
  const { id } = dataOf(await rapport.call('POST', '/api/v1/appointments', body))
  const all = [...(await linksIn(plain.id)), ...(await linksIn(id))]
  assert.deepEqual(
    all.map(([event]) => event),
    ['appointment.created', 'appointment.updated', 'appointment.created'],
  )
  for (const [, ...links] of all) assert.deepEqual(links, [undefined, undefined])
})

test('setting it needs appointments:write; what is set stays for others', async () => {
  const { call } = await makeKey(rapport, { scopes: ['booking_pages:read', 'booking_pages:write'] })
  const body = { slug: 'linked', title: 'x', time_zone: 'UTC' }
  assert.equal((await call('POST', '/api/v1/booking-pages', { ...body, links_in_events: true })).status, 403)
  const { id } = dataOf(await call('POST', '/api/v1/booking-pages', body))
  const put = (caller: typeof call, fields: object) => caller('PUT', `/api/v1/booking-pages/${id}`, fields)
  assert.equal((await put(call, { links_in_events: true })).status, 403)
  assert.equal((await put(rapport.call, { links_in_events: true })).status, 200)
  const changed = await put(call, { title: 'y', links_in_events: true })
  assert.deepEqual([changed.status, dataOf(changed).links_in_events], [200, true])
})
