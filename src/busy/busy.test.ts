// runs: both
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { calendarFile, hourAt, startCalendars } from '../../test/calendar-server.ts'
import { startRapport, turnableClock, useRapport } from '../../test/harness.ts'
import { canBeStored, hostile_texts } from '../../test/hostile-texts.ts'
import { beside } from '../../test/keys.ts'
import { ask, type Browser, join, keyCaller, password, setUp } from '../../test/people.ts'
import { before, use } from '../../test/use.ts'
import { until } from '../../test/webhooks.ts'
import { busyTimesOf, markStale, staleCalendarsOf } from '../db/busy.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { createSeal, readSecretKey } from '../db/seal.ts'
import { createPoller } from './poll.ts'

const clock = turnableClock(Date.parse('2026-12-01T08:00:00.000Z'))
const rapport = useRapport({ clock })
const stored = <T>(work: (db: Db) => Promise<T>) => beside(rapport.data_dir, work)
const store = (work: (tx: Tx) => Promise<unknown>) => stored((db) => transaction(db, work))
const calendars = use(startCalendars)
let ada: Browser
let ada_id: string
before(async () => {
  ada = await setUp(rapport)
  ada_id = (await ada('GET', '/session')).body.data.user.id
})

const path = '/busy-calendars'
let paths = 0
const hour = 3_600_000
const at = (time: string) => Date.parse(`2026-12-${time}:00.000Z`)

/** Adds a calendar with a file, and waits for its first poll. */
async function added(
  file: string | Parameters<typeof calendars.serve>[1],
  fields: object = {},
  by: Browser = ada,
) {
  const own = `/calendar-${++paths}.ics`
  calendars.serve(own, file)
  const { id } = await ask(by, 'POST', path, { url: calendars.url + own, ...fields })
  return { own, calendar: await polled(id, by) }
}
const read = (id: string, by: Browser = ada) => ask(by, 'GET', `${path}/${id}`)
const polled = (id: string, by: Browser = ada) =>
  until(
    () => read(id, by),
    ({ last_attempt_at, status }) => status !== 'waiting' && last_attempt_at !== null,
  )
const refreshed = async (id: string) => {
  clock.advance(2000)
  return ask(ada, 'POST', `${path}/${id}/refresh`)
}
const times = (id: string, user_id = ada_id) =>
  stored(async (db) =>
    (await busyTimesOf(db, 1, [user_id], { from: '2026-11-30', to: '2027-12-31' }))
      .filter(({ calendar_id }) => calendar_id === id)
      .map(({ start_at }) => start_at)
      .sort(),
  )
afterEach(async () => {
  for (const { id } of (await ada('GET', `${path}?per_page=100`)).body.data)
    assert.equal((await ada('DELETE', `${path}/${id}`)).status, 200)
})

test('a new calendar is read at once, and shows neither its address nor its password', async () => {
  const { calendar } = await added(calendarFile(hourAt(at('02T10:00')), hourAt(at('02T10:30'))), {
    username: 'ana',
    password: 'correct horse',
    time_zone: 'europe/berlin',
  })
  const { id, next_poll_at, last_read_at, last_attempt_at, created_at, ...rest } = calendar
  assert.match(id, /^busy_/)
  assert.deepEqual(rest, {
    name: '127.0.0.1',
    url: `${calendars.url}/***`,
    username: 'ana',
    password: '***',
    time_zone: 'Europe/Berlin',
    poll_minutes: 15,
    stale_after_minutes: 120,
    status: 'ok',
    last_error: null,
    stale: false,
    busy_count: 1,
    skipped: [],
    skipped_count: 0,
  })
  assert.equal(Date.parse(next_poll_at), clock.now() + 15 * 60_000)
  assert.equal(last_read_at, last_attempt_at)
  assert.deepEqual(await times(id), ['2026-12-02T10:00:00.000Z'])
  const headers = calendars.requests.at(-1)?.headers ?? {}
  assert.equal(headers.authorization, `Basic ${Buffer.from('ana:correct horse').toString('base64')}`)
  assert.equal(headers['accept-encoding'], 'identity')
  const values = await stored((db) =>
    db.selectFrom('busy_calendars').selectAll().where('id', '=', id).execute(),
  )
  assert.ok(!/calendar-|correct horse|Dentist/.test(JSON.stringify(values)))
  await ask(ada, 'DELETE', `${path}/${id}`)
  assert.deepEqual(await times(id), [])
})

test('calendars belong to a person: keys get 403, and other members 404', async () => {
  const { calendar } = await added(calendarFile())
  const key = keyCaller(rapport)
  assert.equal((await key('GET', path)).status, 403)
  const grace = await join(ada, rapport.url, 'admin')
  assert.equal((await grace.call('GET', `${path}/${calendar.id}`)).status, 404)
  assert.equal((await grace.call('DELETE', `${path}/${calendar.id}`)).status, 404)
  assert.deepEqual((await grace.call('GET', path)).body.data, [])
})

test('a person has at most 10 calendars in a workspace', async () => {
  calendars.serve('/many.ics', calendarFile())
  const ids: string[] = []
  for (let n = 0; n < 10; n++)
    ids.push((await ask(ada, 'POST', path, { url: `${calendars.url}/many.ics` })).id)
  const eleventh = await ada('POST', path, { url: `${calendars.url}/many.ics` })
  assert.equal(eleventh.status, 409)
  assert.equal(eleventh.body.error.reason, 'too_many_busy_calendars')
  const { data, meta } = (await ada('GET', `${path}?per_page=4&page=3`)).body
  assert.equal(data.length, 2)
  assert.equal(meta.total, 10)
})

test('fields are checked, and the error names the field', async () => {
  const problems = async (body: object) => {
    const reply = await ada('POST', path, body)
    assert.equal(reply.status, 422, reply.text)
    return reply.body.error.fields.map(({ field, code }: Record<string, string>) => `${field} ${code}`)
  }
  const url = `${calendars.url}/x.ics`
  assert.deepEqual(await problems({}), ['url required'])
  assert.deepEqual(await problems({ url: 'ftp://example.com/x.ics' }), ['url invalid_url'])
  assert.deepEqual(await problems({ url: 'https://ana:secret@example.com/x.ics' }), ['url invalid_url'])
  assert.deepEqual(await problems({ url: 'http://169.254.169.254/x.ics' }), ['url url_not_allowed'])
  assert.deepEqual(await problems({ url, poll_minutes: 4 }), ['poll_minutes out_of_range'])
  assert.deepEqual(await problems({ url, stale_after_minutes: 10_081 }), ['stale_after_minutes out_of_range'])
  assert.deepEqual(await problems({ url, time_zone: 'Mars/Olympus' }), ['time_zone unknown_value'])
  const webcal = await ask(ada, 'POST', path, { url: `${calendars.url.replace('http', 'webcal')}/x.ics` })
  assert.equal(webcal.url, `${calendars.url.replace('http', 'https')}/***`)
  assert.equal((await polled(webcal.id)).last_error.code, 'tls_error')
})

test('the shown address and password keep the stored ones, and a new host needs the password again', async () => {
  const { calendar, own } = await added(calendarFile(), { username: 'ana', password: 'pw' })
  const changed = await ask(ada, 'PUT', `${path}/${calendar.id}`, { ...calendar, name: 'Private' })
  assert.equal(changed.name, 'Private')
  const other = await startCalendars()
  other.serve('/b.ics', calendarFile())
  const refused = await ada('PUT', `${path}/${calendar.id}`, { url: `${other.url}/b.ics`, password: '***' })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.error.fields[0].code, 'other_origin')
  await refreshed(calendar.id)
  assert.equal(calendars.requests.at(-1)?.path, own)
  await ask(ada, 'PUT', `${path}/${calendar.id}`, { url: `${other.url}/b.ics`, password: null })
  await until(() => read(calendar.id), { status: 'ok' })
  assert.equal(other.requests[0]?.headers.authorization, `Basic ${Buffer.from('ana:').toString('base64')}`)
  await other.close()
})

test('*** keeps a stored address and password alone: without one of them, it is refused', async () => {
  const problems = async (method: 'POST' | 'PUT', id: string, fields: object) => {
    const { status, body } = await ada(method, `${path}${id}`, fields)
    assert.equal(status, 422)
    return body.error.fields.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)
  }
  for (const url of ['x/***', 'ftp://calendar.example/***', 'http://169.254.169.254/***'])
    assert.deepEqual(await problems('POST', '', { url }), ['url not_found'], url)
  const { calendar } = await added(calendarFile())
  const one = `/${calendar.id}`
  assert.deepEqual(await problems('POST', '', { url: calendars.url, password: '***' }), [
    'password not_found',
  ])
  assert.deepEqual(await problems('PUT', one, { url: 'x/***', password: '***' }), [
    'url not_found',
    'password not_found',
  ])
})

test('the entity tag of a calendar does not change with the milliseconds of the clocks', async () => {
  const { calendar } = await added(calendarFile())
  const one = `${path}/${calendar.id}`
  const etag = (await ada('GET', one)).headers.get('etag') ?? ''
  clock.set(1)
  assert.equal((await ada('GET', one, undefined, { 'if-none-match': etag })).status, 304)
  const changed = await ada('PUT', one, { name: 'Private' }, { 'if-match': etag })
  assert.equal(changed.status, 200)
  const now = changed.headers.get('etag') ?? ''
  clock.set(-1)
  assert.equal((await ada('PUT', one, { name: 'Other' }, { 'if-match': etag })).status, 412)
  clock.advance(2000)
  assert.equal((await ada('POST', `${one}/refresh`, {}, { 'if-match': now })).status, 200)
})

test('an unchanged calendar is asked for by its ETag, and read whole once a day', async () => {
  const file = calendarFile(hourAt(at('03T10:00')))
  const { calendar, own } = await added((request, response) => {
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
    else response.writeHead(200, { etag: '"1"', 'last-modified': 'Tue, 01 Dec 2026 08:00:00 GMT' }).end(file)
  })
  const asked = () => calendars.requests.filter(({ path: one }) => one === own)
  clock.advance(15 * 60_000)
  const again = await until(
    () => read(calendar.id),
    ({ last_read_at }) => last_read_at !== calendar.last_read_at,
  )
  assert.equal(again.status, 'ok')
  assert.equal(again.busy_count, 1)
  assert.equal(asked().at(-1)?.headers['if-none-match'], '"1"')
  assert.equal(asked().at(-1)?.headers['if-modified-since'], 'Tue, 01 Dec 2026 08:00:00 GMT')
  clock.advance(24 * hour)
  await until(
    () => read(calendar.id),
    ({ last_read_at }) => last_read_at !== again.last_read_at,
  )
  assert.equal(asked().at(-1)?.headers['if-none-match'], undefined)
})

test('a failed poll keeps the last times, says why, and is repeated with growing delays up to an hour', async () => {
  const { calendar, own } = await added(calendarFile(hourAt(at('10T10:00'))))
  calendars.serve(own, (_, response) => response.writeHead(503).end('<html>'))
  const delays: number[] = []
  let shown = await refreshed(calendar.id)
  for (let n = 0; n < 8; n++) {
    assert.equal(shown.status, 'failing')
    assert.deepEqual(shown.last_error, { code: 'http_error', message: 'The answer had the status 503.' })
    delays.push((Date.parse(shown.next_poll_at) - clock.now()) / 60_000)
    shown = await refreshed(calendar.id)
  }
  assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 60, 60])
  assert.equal(shown.busy_count, 1)
  assert.equal(shown.stale, false)
  clock.advance(121 * 60_000)
  assert.equal((await read(calendar.id)).stale, true)
  calendars.serve(own, calendarFile())
  shown = await refreshed(calendar.id)
  assert.deepEqual([shown.status, shown.last_error, shown.stale, shown.busy_count], ['ok', null, false, 0])
  assert.deepEqual(await times(calendar.id), [])
})

test('a longer time until a calendar is stale counts at once', async () => {
  const { calendar, own } = await added(calendarFile(hourAt(at('10T10:00'))))
  calendars.serve(own, (_, response) => response.writeHead(503).end())
  await refreshed(calendar.id)
  clock.advance(121 * 60_000)
  await stored((db) => markStale(db, clock))
  const stale = async () => (await stored((db) => staleCalendarsOf(db, 1, [ada_id]))).get(ada_id)
  assert.equal(await stale(), calendar.id)
  await ask(ada, 'PUT', `${path}/${calendar.id}`, { stale_after_minutes: 600 })
  assert.equal(await stale(), undefined)
})

test('each kind of bad answer has its code', async () => {
  const code = async (answer: Parameters<typeof calendars.serve>[1]) => {
    const { calendar } = await added(answer)
    await ask(ada, 'DELETE', `${path}/${calendar.id}`)
    return calendar.last_error?.code
  }
  const to =
    (location: string): Parameters<typeof calendars.serve>[1] =>
    (_, response) =>
      response.writeHead(302, { location }).end()
  assert.equal(await code('<!doctype html><p>Sign in'), 'invalid_calendar')
  assert.equal(await code((_, response) => response.destroy()), 'connection_reset')
  // Nobody has asked whether it changed.
  assert.equal(await code((_, response) => response.writeHead(304).end()), 'http_error')
  assert.equal(
    await code(calendarFile(`${hourAt(0)}\nDESCRIPTION:${'x'.repeat(10 * 1024 * 1024)}`)),
    'too_large',
  )
  assert.equal(await code(to('http://169.254.169.254/latest')), 'address_blocked')
  assert.equal(await code(to('file:///etc/passwd')), 'redirect_not_followed')
  calendars.serve('/loop.ics', to('/loop.ics'))
  assert.equal(await code(to('/loop.ics')), 'redirect_not_followed')
})

test('up to 3 redirects are followed, and credentials go to the first host only', async () => {
  const other = await startCalendars()
  const to =
    (location: string): Parameters<typeof calendars.serve>[1] =>
    (_, response) =>
      response.writeHead(307, { location }).end()
  other.serve('/c.ics', to('/d.ics'))
  other.serve('/d.ics', calendarFile(hourAt(at('04T10:00'))))
  calendars.serve('/b.ics', to(`${other.url}/c.ics`))
  const { calendar } = await added(to('/b.ics'), { username: 'ana', password: 'pw' })
  assert.equal(calendar.status, 'ok')
  assert.equal(calendar.busy_count, 1)
  assert.deepEqual(
    other.requests.map(({ headers }) => headers.authorization),
    [undefined, undefined],
  )
  await other.close()
})

test('a refresh waits for the poll, and comes once in 2 s', async () => {
  const { calendar, own } = await added(calendarFile())
  calendars.serve(own, (_, response) =>
    setTimeout(() => response.writeHead(200).end(calendarFile(hourAt(at('11T10:00')))), 300),
  )
  clock.advance(2000)
  const [first, second] = await Promise.all([
    ada('POST', `${path}/${calendar.id}/refresh`),
    ada('POST', `${path}/${calendar.id}/refresh`),
  ])
  const [slow, refused] = first.status === 200 ? [first, second] : [second, first]
  assert.equal(slow.body.data.busy_count, 1)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '2')
})

test('a calendar that hangs delays neither requests nor other calendars', async () => {
  await added(calendarFile())
  calendars.serve(`/calendar-${paths}.ics`, () => {})
  clock.advance(15 * 60_000)
  const { calendar } = await added(calendarFile(hourAt(at('12T10:00'))))
  assert.equal(calendar.busy_count, 1)
})

test('an own booking in a foreign calendar is no busy time, and that of another installation is', async () => {
  const uid = `${'0123456789abcdef'.repeat(2)}@rapport`
  await store((tx) =>
    tx
      .insertInto('bookings')
      .values({ workspace_id: 1, appointment_id: 999, uid, token: null, language: 'en', time_zone: 'UTC' })
      .execute(),
  )
  const other = `${'fedcba9876543210'.repeat(2)}@rapport`
  const { calendar } = await added(
    calendarFile(`UID:${uid}\n${hourAt(at('13T10:00'))}`, `UID:${other}\n${hourAt(at('14T10:00'))}`),
  )
  assert.deepEqual(await times(calendar.id), ['2026-12-14T10:00:00.000Z'])
})

test('an appointment of a member is no busy time in a copy of the own feed, changed or not', async () => {
  const key = keyCaller(rapport)
  const made = await ask(key, 'POST', '/appointments', {
    title: 'Call',
    start_at: new Date(at('19T10:00')).toISOString(),
    end_at: new Date(at('19T11:00')).toISOString(),
    owner_id: ada_id,
  })
  const { url_path } = await ask(ada, 'POST', '/calendar-feeds', { name: 'Phone' })
  const copy = async () => (await fetch(rapport.url + url_path)).text()
  const first = await copy()
  assert.match(first, /SUMMARY:Call/)
  const { calendar, own } = await added(first)
  assert.deepEqual(await times(calendar.id), [])
  await ask(key, 'PUT', `/appointments/${made.id}`, { location: 'Room 4' })
  // The other program has not seen the change yet, and then it has.
  assert.equal((await refreshed(calendar.id)).busy_count, 0)
  calendars.serve(own, await copy())
  assert.equal((await refreshed(calendar.id)).busy_count, 0)
})

test('a refresh while another process polls waits for that poll, and asks the calendar no second time', async () => {
  const { calendar, own } = await added(calendarFile())
  let answer: (() => void) | undefined
  calendars.serve(own, (_, response) => {
    answer = () => response.writeHead(200).end(calendarFile(hourAt(at('20T10:00'))))
  })
  const asked = () => calendars.requests.filter(({ path: one }) => one === own).length
  const before = asked()
  // Another process has the lease, and is in the middle of its poll.
  const other = stored((db) => {
    const seal = createSeal(readSecretKey(null, rapport.data_dir))
    const policy = { allowed_networks: [], allow_private: true }
    const fetching = { policy, proxy: null, secureContext: undefined, version: '0' }
    const poller = createPoller({ db, clock, seal, fetching, zone_folder: '' })
    return poller.pollNow(1, calendar.id, new AbortController().signal)
  })
  await until(
    async () => asked(),
    (count) => count === before + 1,
  )
  clock.advance(2000)
  const refresh = ada('POST', `${path}/${calendar.id}/refresh`)
  // It waits for the poll from then on.
  await until(
    () =>
      stored((db) =>
        db.selectFrom('busy_calendars').select('refreshed_ms').where('id', '=', calendar.id).execute(),
      ),
    ([row]) => Number(row?.refreshed_ms) === clock.elapsed(),
  )
  answer?.()
  const { status, body } = await refresh
  await other
  assert.deepEqual([status, body.data.busy_count, asked()], [200, 1, before + 1])
})

test('a new zone and a new e-mail of the person count at once, also for a calendar that has not changed', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const file = calendarFile(
    'DTSTART;VALUE=DATE:20261221',
    `${hourAt(at('23T10:00'))}\nATTENDEE;PARTSTAT=DECLINED:mailto:moved@example.com`,
  )
  const { calendar } = await added(
    (request, response) => {
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
      else response.writeHead(200, { etag: '"1"' }).end(file)
    },
    {},
    grace.call,
  )
  const shown = (expected: string[]) =>
    until(
      () => times(calendar.id, grace.id),
      (found) => found.join() === expected.join(),
    )
  await shown(['2026-12-21T00:00:00.000Z', '2026-12-23T10:00:00.000Z'])
  await ask(grace.call, 'PUT', '/profile', { time_zone: 'America/New_York' })
  await shown(['2026-12-21T05:00:00.000Z', '2026-12-23T10:00:00.000Z'])
  await ask(grace.call, 'PUT', '/profile', { email: 'moved@example.com', current_password: password })
  await shown(['2026-12-21T05:00:00.000Z'])
  await ask(grace.call, 'DELETE', `${path}/${calendar.id}`)
})

test('an event to the end of time makes busy until the end of what is read', async () => {
  const { calendar } = await added(
    calendarFile(
      'DTSTART;TZID=America/New_York:20261202T000000\nDTEND;TZID=America/New_York:99991231T235959',
    ),
  )
  assert.equal(calendar.busy_count, 1)
  assert.deepEqual(await times(calendar.id), ['2026-12-02T05:00:00.000Z'])
  const found = await stored((db) =>
    busyTimesOf(db, 1, [ada_id], { from: '2027-06-01T00:00:00.000Z', to: '2027-06-02T00:00:00.000Z' }),
  )
  assert.equal(found.length, 1)
})

test('a shorter time between polls counts from the last reading', async () => {
  const { calendar } = await added(calendarFile(), { poll_minutes: 1440 })
  const { next_poll_at } = await ask(ada, 'PUT', `${path}/${calendar.id}`, { poll_minutes: 5 })
  assert.equal(Date.parse(next_poll_at) - Date.parse(calendar.last_read_at), 5 * 60_000)
})

test('the calendars of a removed member are removed', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const { calendar } = await added(calendarFile(hourAt(at('15T10:00'))), {}, grace.call)
  assert.equal(calendar.busy_count, 1)
  await ask(ada, 'DELETE', `/members/${grace.id}`)
  const left = await stored((db) =>
    db.selectFrom('busy_calendars').select('id').where('id', '=', calendar.id).execute(),
  )
  assert.deepEqual(left, [])
  assert.deepEqual(await times(calendar.id, grace.id), [])
})

test('times are read in generations: a poll that ends in between leaves the old ones', async () => {
  const { calendar, own } = await added(calendarFile(hourAt(at('16T10:00'))))
  await store((tx) =>
    tx
      .insertInto('busy_periods')
      .values({
        workspace_id: 1,
        calendar_id: calendar.id,
        generation: 2,
        start_at: '2026-12-17T10:00:00.000Z',
        end_at: '2026-12-17T11:00:00.000Z',
      })
      .execute(),
  )
  assert.deepEqual(await times(calendar.id), ['2026-12-16T10:00:00.000Z'])
  calendars.serve(own, calendarFile(hourAt(at('18T10:00')), hourAt(at('17T10:00'))))
  assert.equal((await refreshed(calendar.id)).busy_count, 2)
  assert.deepEqual(await times(calendar.id), ['2026-12-17T10:00:00.000Z', '2026-12-18T10:00:00.000Z'])
})

test('a name, a user name and a password may be any text that can be stored, or are refused', async () => {
  const { calendar } = await added(calendarFile())
  for (const text of hostile_texts) {
    const reply = await ada('PUT', `${path}/${calendar.id}`, { name: text, username: text, password: text })
    if (!canBeStored(text) || [...text.trim()].length > 255) {
      assert.equal(reply.status, 422, reply.text)
      continue
    }
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.body.data.name, text.trim() || '127.0.0.1')
  }
})

test('without a session there is nothing', async () => {
  const stranger = await startRapport()
  assert.equal((await stranger.call('GET', `/api/v1${path}`)).status, 403)
  await stranger.stop()
})
