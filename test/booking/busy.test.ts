// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Made, makePage } from '../booking.ts'
import { calendarFile, hourAt, startCalendars } from '../calendar-server.ts'
import { dataOf } from '../envelope.ts'
import { callOf, turnableClock, useRapport } from '../harness.ts'
import { ask, join, setUp } from '../people.ts'
import { before, use } from '../use.ts'
import { until } from '../webhooks.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const calendars = use(startCalendars)
const call = callOf(rapport)
const ok = async (method: string, path: string, body?: object): Promise<Made> =>
  dataOf(await call(method, `/api/v1${path}`, body))

const hour = 3_600_000
const monday = Date.parse('2026-11-23T00:00:00.000Z')
const iso = (ms: number) => new Date(ms).toISOString()

const hosts: Awaited<ReturnType<typeof join>>[] = []
before(async () => {
  const ada = await setUp(rapport)
  for (let n = 0; n < 2; n++) hosts.push(await join(ada, rapport.url, 'member'))
})
const host = (n: number) => hosts[n] as (typeof hosts)[number]

let made = 0
const newPage = (fields: object): Promise<Made> =>
  makePage(rapport, { slug: `busy-${++made}`, time_zone: 'UTC', minimum_notice_minutes: 0, ...fields })
const startsOf = async ({ id }: Made): Promise<string[]> =>
  (await ok('GET', `/booking-pages/${id}/slots?from=${iso(monday)}&to=${iso(monday + 24 * hour)}`)).map(
    ({ start_at }: Made) => start_at,
  )
const explainAt = async ({ id }: Made, ms: number): Promise<Made> =>
  (await ok('GET', `/booking-pages/${id}/slots?explain=true&at=${iso(ms)}`))[0]

/** Adds a calendar of a host with events of an hour, and waits for its first poll. */
async function added(n: number, times: number[], fields: object = {}): Promise<Made> {
  const path = `/${++made}.ics`
  calendars.serve(path, calendarFile(...times.map(hourAt)))
  const { call: by } = host(n)
  const { id } = await ask(by, 'POST', '/busy-calendars', { url: calendars.url + path, ...fields })
  return until(() => ask(by, 'GET', `/busy-calendars/${id}`), { status: 'ok' })
}
const ten = monday + 10 * hour

test('a time at which a host is busy elsewhere is not offered, and the reason names the calendar alone', async () => {
  const page = await newPage({ hosts: [{ user_id: host(0).id }], assignment: 'fixed', duration_minutes: 60 })
  assert.ok((await startsOf(page)).includes(iso(ten)))
  const { id } = await added(0, [ten])
  const starts = await startsOf(page)
  assert.ok(!starts.includes(iso(ten)))
  assert.ok(starts.includes(iso(ten + hour)))
  const { free, reasons, host_ids } = await explainAt(page, ten)
  assert.deepEqual(
    { free, host_ids, reasons },
    {
      free: false,
      host_ids: [],
      reasons: [
        {
          code: 'busy_calendar',
          user_id: host(0).id,
          record: null,
          calendar_id: id,
          from: iso(ten),
          to: iso(ten + hour),
        },
      ],
    },
  )
  const title = 'Dentist'
  assert.ok(!JSON.stringify(reasons).includes(title))
  // A member who makes the appointment for the host is refused, too.
  const times = { start_at: iso(ten), end_at: iso(ten + hour), booking_page_id: page.id }
  const refused = await call('POST', '/api/v1/appointments', {
    title: 'Demo',
    owner_id: host(0).id,
    ...times,
  })
  assert.equal(refused.status, 409, refused.text)
  await ask(host(0).call, 'DELETE', `/busy-calendars/${id}`)
  assert.ok((await startsOf(page)).includes(iso(ten)))
})

test('of two hosts in turn, the one who is free elsewhere gets the visitor', async () => {
  const page = await newPage({
    hosts: hosts.map(({ id }) => ({ user_id: id })),
    assignment: 'round_robin',
    duration_minutes: 60,
  })
  const { id } = await added(1, [ten + hour])
  assert.deepEqual((await explainAt(page, ten + hour)).host_ids, [host(0).id])
  const times = { start_at: iso(ten + hour), end_at: iso(ten + 2 * hour), booking_page_id: page.id }
  const { host_ids } = await ok('POST', '/appointments', { title: 'Demo', ...times })
  assert.deepEqual(host_ids, [host(0).id])
  await ask(host(1).call, 'DELETE', `/busy-calendars/${id}`)
})

test('a stale calendar shows since when, and stops its host if the page says so', async () => {
  const user_id = host(0).id
  const stopping = await newPage({ hosts: [{ user_id }], stale_calendars: 'stop', duration_minutes: 60 })
  const offering = await newPage({ hosts: [{ user_id }], duration_minutes: 60 })
  const { id, last_read_at } = await added(0, [], { stale_after_minutes: 15, poll_minutes: 60 })
  const at = ten + 5 * hour
  assert.equal((await explainAt(stopping, at)).free, true)
  clock.advance(16 * 60_000)
  const hostOf = async ({ id }: Made) => (await ok('GET', `/booking-pages/${id}`)).hosts[0]
  const shown = await until(
    () => hostOf(stopping),
    ({ stale_since }) => stale_since !== null,
    20_000,
  )
  assert.deepEqual(shown, {
    user_id,
    weight: 1,
    stale_since: iso(Date.parse(last_read_at) + 15 * 60_000),
  })
  const listed = await ok('GET', '/booking-pages?per_page=100')
  assert.deepEqual(listed.find((page: Made) => page.id === offering.id).hosts, [shown])
  const stopped = await explainAt(stopping, at)
  assert.deepEqual(
    [stopped.free, stopped.reasons.map(({ code, calendar_id }: Made) => [code, calendar_id])],
    [false, [['stale_calendar', id]]],
  )
  assert.equal((await explainAt(offering, at)).free, true)
  // An answer that is sent back changes nothing.
  const page = await ok('GET', `/booking-pages/${stopping.id}`)
  assert.equal((await ok('PUT', `/booking-pages/${stopping.id}`, page)).updated_at, page.updated_at)
  await ask(host(0).call, 'POST', `/busy-calendars/${id}/refresh`)
  assert.equal((await hostOf(stopping)).stale_since, null)
  assert.equal((await explainAt(stopping, at)).free, true)
})
