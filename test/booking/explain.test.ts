import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Made, makePage } from '../booking.ts'
import { dataOf, problems, refused } from '../envelope.ts'
import { callOf, client, turnableClock, useRapport } from '../harness.ts'
import { type Browser, join, setUp } from '../people.ts'
import { before } from '../use.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)
const ok = async (method: string, path: string, body?: object): Promise<Made> =>
  dataOf(await call(method, `/api/v1${path}`, body))

const minute = 60_000
const day_ms = 1440 * minute
const monday = Date.parse('2026-11-23T00:00:00.000Z')
const iso = (ms: number) => new Date(ms).toISOString()

let ada: Browser
const people: string[] = []
before(async () => {
  ada = await setUp(rapport)
  for (let n = 0; n < 3; n++) people.push((await join(ada, rapport.url, 'member')).id)
})

let pages = 0
const newPage = (fields: object = {}): Promise<Made> =>
  makePage(rapport, { slug: `explain-${++pages}`, time_zone: 'UTC', ...fields })
const explain = (id: number, query: string): Promise<Made[]> =>
  ok('GET', `/booking-pages/${id}/slots?explain=true&${query}`)
const explainAt = async (id: number, ms: number): Promise<Made> => (await explain(id, `at=${iso(ms)}`))[0]
const codesOf = ({ reasons }: Made): string[] => reasons.map(({ code }: Made) => code)

test('each start within opening hours has its reasons, and free says what the slots say', async () => {
  const [a = '', b = ''] = people
  const hosts = [a, b].map((user_id) => ({ user_id }))
  const page = await newPage({
    hosts,
    assignment: 'round_robin',
    buffer_minutes: 15,
    minimum_notice_minutes: 0,
  })
  const meeting = {
    title: 'Secret',
    start_at: iso(monday + 10 * 60 * minute),
    end_at: iso(monday + 11 * 60 * minute),
  }
  const { id } = await ok('POST', '/appointments', { ...meeting, owner_id: a })
  const range = `from=${iso(monday)}&to=${iso(monday + day_ms)}`
  const rows = await explain(page.id, range)
  const slots = await ok('GET', `/booking-pages/${page.id}/slots?${range}`)
  assert.equal(rows.length, 16)
  assert.deepEqual(
    rows.filter(({ free }) => free).map(({ start_at, end_at }) => ({ start_at, end_at })),
    slots,
  )
  const at_ten = rows.find(({ start_at }) => start_at === meeting.start_at)
  assert.deepEqual(at_ten, {
    start_at: meeting.start_at,
    end_at: iso(monday + 10.5 * 60 * minute),
    free: true,
    host_ids: [b],
    reasons: [
      {
        code: 'appointment',
        user_id: a,
        record: { kind: 'appointments', id },
        calendar_id: null,
        from: meeting.start_at,
        to: meeting.end_at,
      },
    ],
  })
  assert.deepEqual(codesOf(await explainAt(page.id, monday + 11 * 60 * minute)), ['buffer'])
  assert.doesNotMatch(JSON.stringify(rows), /Secret/)
})

test('a time outside of the slots is closed, overridden, no start, too soon or too far', async () => {
  const page = await newPage({
    date_overrides: { '2026-11-24': [], '2026-11-28': [{ from: '09:00', to: '10:00' }] },
    horizon_days: 10,
    minimum_notice_minutes: 60,
  })
  const at = (days: number, minutes: number) => explainAt(page.id, monday + days * day_ms + minutes * minute)
  assert.deepEqual(codesOf(await at(0, 8 * 60)), ['closed'])
  assert.deepEqual(codesOf(await at(1, 9 * 60)), ['date_override'])
  assert.deepEqual(codesOf(await at(5, 11 * 60)), ['date_override'])
  assert.deepEqual(codesOf(await at(5, 9 * 60)), [])
  assert.deepEqual(codesOf(await at(0, 9 * 60 + 10)), ['not_a_start'])
  assert.deepEqual(codesOf(await at(-3, 9 * 60)), ['notice'])
  assert.deepEqual(codesOf(await at(14, 9 * 60)), ['horizon'])
})

test('a page whose hosts have left has no host', async () => {
  const { id } = await join(ada, rapport.url, 'member')
  const page = await newPage({ hosts: [{ user_id: id }] })
  await ada('DELETE', `/members/${id}`)
  const row = await explainAt(page.id, monday + 9 * 60 * minute)
  assert.deepEqual([row.free, row.host_ids, codesOf(row)], [false, [], ['no_host']])
})

test('the record is for those who may read appointments; the public list takes no reasons', async () => {
  const page = await newPage()
  const times = { start_at: iso(monday + 9 * 60 * minute), end_at: iso(monday + 10 * 60 * minute) }
  await ok('POST', '/appointments', { title: 'Demo', ...times, booking_page_id: page.id })
  const { token: key } = await ok('POST', '/keys', { name: 'Pages', scopes: ['booking_pages:read'] })
  const path = `/api/v1/booking-pages/${page.id}/slots?explain=true&at=${times.start_at}`
  const [{ reasons }] = dataOf(await client(rapport.url, key)('GET', path)) as Made[]
  assert.deepEqual(
    reasons.map(({ code, record }: Made) => [code, record]),
    [['appointment', null]],
  )
  refused(await call('GET', `/book/${page.slug}/slots?explain=true`), 400, 'bad_request')
  const wrong = (query: string) => call('GET', `/api/v1/booking-pages/${page.id}/slots?${query}`)
  assert.deepEqual(problems(await wrong(`at=${times.start_at}`)), { at: 'not_allowed' })
  const long = `explain=true&from=${iso(monday)}&to=${iso(monday + 15 * day_ms)}`
  assert.deepEqual(problems(await wrong(long)), { to: 'out_of_range' })
})

test('for 1,000 random times, free and the free hosts are as an independent checker says', async () => {
  const hosts = people.map((user_id) => ({ user_id }))
  const always = Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'].map((day) => [
      day,
      [
        { from: '08:00', to: '12:00' },
        { from: '13:00', to: '18:20' },
      ],
    ]),
  )
  const rules = { buffer_minutes: 10, minimum_notice_minutes: 600, horizon_days: 20, availability: always }
  const made = [
    await newPage({ ...rules, hosts, assignment: 'round_robin' }),
    await newPage({ ...rules, hosts, assignment: 'collective', date_overrides: { '2026-12-02': [] } }),
  ]
  // Weeks after those of the other tests.
  const first = monday + 7 * day_ms
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * below)
  }
  const taken: { host: string; from: number; to: number }[] = []
  for (let n = 0; n < 60; n++) {
    const host = people[random(3)] as string
    const from = first + random(12 * 1440) * minute
    const to = from + (15 + random(180)) * minute
    await ok('POST', '/appointments', { title: 'x', start_at: iso(from), end_at: iso(to), owner_id: host })
    taken.push({ host, from, to })
  }
  const now = clock.now()
  const today = Math.floor(now / day_ms)
  for (const page of made) {
    const ask = Array.from({ length: 500 }, () => {
      const near = first + random(14) * day_ms + (8 * 60 + random(20) * 30) * minute
      return random(3) ? near : first - 10 * day_ms + random(24 * 1440) * minute
    })
    for (const start of ask) {
      const end = start + 30 * minute
      const free_hosts = people.filter(
        (host) =>
          !taken.some(
            (one) => one.host === host && one.from < end + 10 * minute && one.to > start - 10 * minute,
          ),
      )
      const day = Math.floor(start / day_ms)
      const of_day = (start - day * day_ms) / minute
      const weekday = new Date(start).getUTCDay()
      const starts = [480, 510, 540, 570, 600, 630, 660, 690]
      for (let one = 780; one + 30 <= 1100; one += 30) starts.push(one)
      const is_open =
        weekday >= 1 &&
        weekday <= 5 &&
        starts.includes(of_day) &&
        !(page.assignment === 'collective' && iso(start).startsWith('2026-12-02'))
      const in_time = start >= now + 600 * minute && day <= today + 20
      const some = page.assignment === 'collective' ? free_hosts.length === 3 : free_hosts.length > 0
      const row = await explainAt(page.id, start)
      assert.equal(row.free, is_open && in_time && some, JSON.stringify(row))
      assert.deepEqual([...row.host_ids].sort(), [...free_hosts].sort(), row.start_at)
      if (!row.free) assert.notEqual(row.reasons.length, 0, row.start_at)
    }
  }
})
