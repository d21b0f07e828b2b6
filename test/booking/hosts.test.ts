// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ana, type Made, makePage, visitor } from '../booking.ts'
import { useStored } from '../database.ts'
import { engine } from '../engine.ts'
import { dataOf, refused } from '../envelope.ts'
import { callOf, startRapport, turnableClock, useRapport } from '../harness.ts'
import { type Browser, join, setUp } from '../people.ts'
import { before } from '../use.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)
const ok = async (method: string, path: string, body?: object): Promise<Made> =>
  dataOf(await call(method, `/api/v1${path}`, body))

let ada: Browser
/** Three members. */
const people: string[] = []
before(async () => {
  ada = await setUp(rapport)
  for (let n = 0; n < 3; n++) people.push((await join(ada, rapport.url, 'member')).id)
})

let pages = 0
const hostsOf = (ids: readonly string[], weight = 1) => ids.map((user_id) => ({ user_id, weight }))
const newPage = (assignment: string, ids: readonly string[] = people, fields: object = {}): Promise<Made> =>
  makePage(rapport, { slug: `hosts-${++pages}`, assignment, hosts: hostsOf(ids), ...fields })

// Each test has days of its own, so that hosts are not busy with the bookings of another one.
let days = 0
const monday = Date.parse('2026-11-23T00:00:00.000Z')
const newDay = () => {
  const week = Math.floor(days / 5)
  return monday + (week * 7 + (days++ % 5)) * 86_400_000
}
const at = (day: number, hours: number) => new Date(day + hours * 3_600_000).toISOString()
const span = (day: number, from: number, to = from + 0.5) => ({
  start_at: at(day, from),
  end_at: at(day, to),
})

let guests = 0
const guest = () => ({ ...ana, email: `guest-${++guests}@acme.example` })
const visit = (slug: string, slot: string, url = rapport.url) =>
  visitor(url).post(`/book/${slug}`, { ...guest(), slot })
const slotsOf = async (page: Made, day: number): Promise<string[]> => {
  const found = await ok('GET', `/booking-pages/${page.id}/slots?from=${at(day, 0)}&to=${at(day, 24)}`)
  return found.map(({ start_at }: Made) => start_at)
}
const bookingsOf = async (page: Made): Promise<Made[]> => {
  const listed = await ok('GET', `/appointments?booking_page_id=${page.id}&per_page=100&sort=created_at`)
  return Promise.all(listed.map(({ id }: Made) => ok('GET', `/appointments/${id}`)))
}
const countsOf = (bookings: Made[]) =>
  people.map((id) => bookings.filter(({ owner_id }) => owner_id === id).length)
const busy = (reply: Made) => assert.equal((refused(reply, 409, 'conflict') as Made).reason, 'host_busy')

/** No exclusive times of one calendar overlap. */
async function noneTwice() {
  const rows = await stored.rows(
    `SELECT a.calendar FROM taken_times a JOIN taken_times b ON a.workspace_id = b.workspace_id
     AND a.calendar = b.calendar AND a.appointment_id < b.appointment_id AND a.start_at < b.end_at
     AND b.start_at < a.end_at WHERE a.is_exclusive = 1 AND b.is_exclusive = 1`,
  )
  assert.deepEqual(rows, [])
}

describe('the hosts of a page', () => {
  test('are members, each once; a fixed page has one', async () => {
    const [a = '', b = ''] = people
    const wrong = async (fields: object, field: string, code: string) => {
      const body = { slug: `hosts-${++pages}`, title: 'Demo', time_zone: 'UTC', ...fields }
      const { fields: found = [] } = refused(
        await call('POST', '/api/v1/booking-pages', body),
        422,
        'validation_failed',
      )
      assert.deepEqual(
        found.map((one: Made) => [one.field, one.code]),
        [[field, code]],
      )
    }
    await wrong({ hosts: [{ user_id: 'usr_nobody' }] }, 'hosts.0.user_id', 'not_found')
    await wrong({ hosts: hostsOf([a, a]), assignment: 'collective' }, 'hosts.1.user_id', 'duplicate')
    await wrong({ hosts: hostsOf([a, b]) }, 'hosts', 'too_many')
    await wrong({ hosts: hostsOf([a], 101) }, 'hosts.0.weight', 'out_of_range')
    const page = await newPage('fixed', [a])
    assert.deepEqual(page.hosts, [{ user_id: a, weight: 1, stale_since: null }])
    const again = await ok('PUT', `/booking-pages/${page.id}`, page)
    assert.equal(again.updated_at, page.updated_at)
    const reply = await call('PUT', `/api/v1/booking-pages/${page.id}`, { hosts: hostsOf([a, b]) })
    assert.equal(refused(reply, 422, 'validation_failed').fields?.[0]?.field, 'hosts')
  })

  test('with one host, the visitor gets the host, who is busy then on every page and without one', async () => {
    const [a = ''] = people
    const [page, other] = [await newPage('fixed', [a]), await newPage('fixed', [a])]
    const day = newDay()
    assert.equal((await visit(page.slug, at(day, 10))).status, 303)
    const [booked] = await bookingsOf(page)
    assert.deepEqual([booked.owner_id, booked.host_ids], [a, [a]])
    await ok('POST', '/appointments', { title: 'Dentist', ...span(day, 11, 12), owner_id: a })
    for (const { id } of [page, other]) {
      const free = await slotsOf({ id }, day)
      assert.ok(free.includes(at(day, 9.5)))
      for (const hour of [10, 11, 11.5]) assert.ok(!free.includes(at(day, hour)), String(hour))
    }
    assert.equal((await visit(other.slug, at(day, 11))).status, 409)
    await noneTwice()
  })

  test('with the buffer of the page before and after each appointment', async () => {
    const [a = '', b = ''] = people
    const page = await newPage('round_robin', [a, b], { buffer_minutes: 30 })
    const day = newDay()
    await ok('POST', '/appointments', { title: 'Call', ...span(day, 11, 12), owner_id: a })
    for (let n = 0; n < 2; n++) await visit(page.slug, at(day, 12))
    assert.deepEqual(
      (await bookingsOf(page)).map(({ owner_id }) => owner_id),
      [b],
    )
  })

  test('collective: a time is free if all are, and all receive the visitor', async () => {
    const page = await newPage('collective')
    const day = newDay()
    const [, b = ''] = people
    await ok('POST', '/appointments', { title: 'Call', ...span(day, 11), owner_id: b })
    assert.ok(!(await slotsOf(page, day)).includes(at(day, 11)))
    assert.equal((await visit(page.slug, at(day, 12))).status, 303)
    const [booked] = await bookingsOf(page)
    assert.deepEqual([booked.owner_id, booked.host_ids], [people[0], people])
    const reply = await call('POST', '/api/v1/appointments', {
      title: 'Demo',
      ...span(day, 11),
      booking_page_id: page.id,
    })
    busy(reply)
  })

  test('a removed member is no host', async () => {
    const { id } = await join(ada, rapport.url, 'member')
    const page = await newPage('round_robin', [id, people[0] as string])
    const alone = await newPage('fixed', [id])
    const day = newDay()
    assert.equal((await ada('DELETE', `/members/${id}`)).status, 200)
    for (const hour of [10, 11]) await visit(page.slug, at(day, hour))
    assert.deepEqual(
      (await bookingsOf(page)).map(({ owner_id }) => owner_id),
      [people[0], people[0]],
    )
    assert.deepEqual(await slotsOf(alone, day), [])
    busy(
      await call('POST', '/api/v1/appointments', { title: 'x', ...span(day, 12), booking_page_id: alone.id }),
    )
  })
})

describe('round robin', () => {
  test('gives equal hosts equal numbers, and others by their weight', async () => {
    const page = await newPage('round_robin')
    const day = newDay()
    for (let n = 0; n < 8; n++) {
      assert.equal((await visit(page.slug, at(day, 9 + n / 2))).status, 303)
      const counts = countsOf(await bookingsOf(page))
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join())
    }
    const [a = '', b = ''] = people
    const hosts = [...hostsOf([a], 3), ...hostsOf([b])]
    const weighted = await newPage('round_robin', [], { hosts })
    const later = newDay()
    for (let n = 0; n < 8; n++) await visit(weighted.slug, at(later, 9 + n / 2))
    assert.deepEqual(countsOf(await bookingsOf(weighted)), [6, 2, 0])
  })

  test('two bookings overlap if their hosts differ; a move keeps the host if they are free, else assigns anew', async () => {
    const [a = '', b = ''] = people
    const page = await newPage('round_robin', [a, b])
    const day = newDay()
    for (let n = 0; n < 2; n++) assert.equal((await visit(page.slug, at(day, 10))).status, 303)
    assert.equal((await visit(page.slug, at(day, 10))).status, 409)
    const [first] = await bookingsOf(page)
    const moved = await ok('PUT', `/appointments/${first.id}`, span(day, 11))
    assert.deepEqual([moved.owner_id, moved.host_ids], [first.owner_id, first.host_ids])
    await ok('POST', '/appointments', { title: 'Call', ...span(day, 12), owner_id: moved.owner_id })
    const again = await ok('PUT', `/appointments/${first.id}`, span(day, 12))
    const other = moved.owner_id === a ? b : a
    assert.deepEqual([again.owner_id, again.host_ids], [other, [other]])
    busy(await call('PUT', `/api/v1/appointments/${first.id}`, { owner_id: moved.owner_id }))
    await ok('PUT', `/appointments/${first.id}`, span(day, 13))
    const given = await ok('PUT', `/appointments/${first.id}`, { owner_id: moved.owner_id })
    assert.deepEqual(given.host_ids, [moved.owner_id])
    await noneTwice()
  })

  test('a member who books needs the host whom they name; without a name, the page assigns', async () => {
    const [a = '', b = ''] = people
    const page = await newPage('round_robin', [a, b])
    const day = newDay()
    const book = (owner_id?: string) =>
      call('POST', '/api/v1/appointments', {
        title: 'Demo',
        ...span(day, 10),
        booking_page_id: page.id,
        owner_id,
      })
    assert.deepEqual(dataOf(await book(a)).host_ids, [a])
    busy(await book(a))
    assert.deepEqual(dataOf(await book()).host_ids, [b])
    busy(await book())
  })

  test('a booking comes back from the trash only while its host is free', async () => {
    const [a = ''] = people
    const page = await newPage('fixed', [a])
    const day = newDay()
    await visit(page.slug, at(day, 10))
    const [{ id }] = await bookingsOf(page)
    await call('DELETE', `/api/v1/appointments/${id}`)
    const call_at_10 = await ok('POST', '/appointments', { title: 'Call', ...span(day, 10), owner_id: a })
    busy(await call('POST', `/api/v1/appointments/${id}/restore`))
    await call('DELETE', `/api/v1/appointments/${call_at_10.id}`)
    assert.deepEqual((await ok('POST', `/appointments/${id}/restore`)).host_ids, [a])
  })
})

test('the public page says with whom, at which company, and what follows the booking', async () => {
  const page = await newPage('collective')
  const { get } = visitor(rapport.url)
  const chooser = (await get(`/book/${page.slug}`)).text
  assert.match(chooser, /With Grace Hopper, Grace Hopper, and Grace Hopper · Acme/)
  const day = newDay()
  const form = (await get(`/book/${page.slug}?slot=${at(day, 12)}`)).text
  assert.match(form, /With Grace Hopper/)
  assert.match(form, /The next page is private: it has the calendar file/)
  const in_turn = await newPage('round_robin')
  assert.match((await get(`/book/${in_turn.slug}`)).text, /With Grace Hopper, Grace Hopper, or Grace Hopper/)
})

test('a page that loses its hosts is one calendar again, with the bookings of its hosts', async () => {
  const page = await newPage('round_robin')
  const day = newDay()
  for (let n = 0; n < 2; n++) await visit(page.slug, at(day, 10))
  await ok('PUT', `/booking-pages/${page.id}`, { hosts: [] })
  const free = await slotsOf(page, day)
  assert.deepEqual([free.includes(at(day, 10)), free.includes(at(day, 10.5))], [false, true])
  assert.equal((await visit(page.slug, at(day, 10.5))).status, 303)
  assert.equal((await visit(page.slug, at(day, 10.5))).status, 409)
})

test('of 500 visitors for the times of three hosts, no host is booked twice, and the hosts have equal numbers', async () => {
  const page = await newPage('round_robin', people, { minimum_notice_minutes: 0 })
  const urls = [rapport.url]
  // On SQLite, one process writes.
  const others =
    engine === 'postgres'
      ? await Promise.all([1, 2].map(() => startRapport({ clock, data_dir: rapport.data_dir })))
      : []
  urls.push(...others.map(({ url }) => url))
  try {
    const slots = Array.from({ length: 10 }, newDay).flatMap((day) =>
      Array.from({ length: 10 }, (_, n) => at(day, 9 + n / 2)),
    )
    const asked = Array.from({ length: 500 }, (_, n) => n)
    const statuses: number[] = []
    // A busy machine may answer 503. The visitor tries again.
    const visitUntilAnswered = async (n: number) => {
      for (;;) {
        const { status } = await visit(page.slug, slots[n % slots.length] as string, urls[n % urls.length])
        if (status !== 503) return status
      }
    }
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let n = asked.shift(); n !== undefined; n = asked.shift())
          statuses.push(await visitUntilAnswered(n))
      }),
    )
    assert.deepEqual([...new Set(statuses)].sort(), [303, 409])
    const rows = await stored.rows(
      'SELECT owner_id, count(*) AS n FROM appointments WHERE booking_page_id = ? GROUP BY owner_id',
      page.id,
    )
    assert.deepEqual(
      rows.map(({ n }) => Number(n)),
      [100, 100, 100],
    )
    assert.equal(statuses.filter((status) => status === 303).length, 300)
    await noneTwice()
  } finally {
    for (const other of others) await other.close()
  }
})

test('concurrent visitors of different times leave counts that differ by at most 1', async () => {
  const page = await newPage('round_robin')
  const day = newDay()
  await Promise.all(Array.from({ length: 14 }, (_, n) => visit(page.slug, at(day, 9 + n / 2))))
  const counts = countsOf(await bookingsOf(page))
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join())
})
