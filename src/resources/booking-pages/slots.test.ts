import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dataOf, problems, refused } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'

// A Saturday.
const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const minute = 60_000
const day = 1440 * minute
const at = (ms: number) => new Date(ms).toISOString()
const ok = async (method: string, url: string, body?: object) => dataOf(await call(method, url, body))
type Slot = { start_at: string; end_at: string }
let pages = 0
const newPage = (body: object = {}) => {
  const page = { slug: `page-${++pages}`, title: 'Demo', time_zone: 'UTC', minimum_notice_minutes: 0 }
  return ok('POST', '/api/v1/booking-pages', { ...page, ...body })
}
const slotsPath = (id: number, query = '') => `/api/v1/booking-pages/${id}/slots${query}`
const slots = (id: number, query?: string): Promise<Slot[]> => ok('GET', slotsPath(id, query))
const book = (booking_page_id: number, slot: Slot) =>
  call('POST', '/api/v1/appointments', { title: 'Demo', ...slot, booking_page_id })
const everyDay = (from: string, to: string) =>
  Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((name) => [
      name,
      [{ from, to }],
    ]),
  )

test('without a range it is the coming week from now, in order, as one page', async () => {
  const { id } = await newPage({ availability: everyDay('08:00', '09:00') })
  const reply = await call('GET', slotsPath(id))
  const days = [22, 23, 24, 25, 26, 27, 28]
  const starts = days.flatMap((date) => [`2026-11-${date}T08:00:00.000Z`, `2026-11-${date}T08:30:00.000Z`])
  const expected = ['2026-11-21T08:30:00.000Z', ...starts.slice(0, -1)]
  assert.deepEqual(reply.body, {
    success: true,
    data: expected.map((start_at) => ({ start_at, end_at: at(Date.parse(start_at) + 30 * minute) })),
    meta: { current_page: 1, last_page: 1, per_page: expected.length, total: expected.length },
  })
})

test('the range is from its beginning to before its end, in any zone; nothing is offered in the past', async () => {
  const { id } = await newPage({ availability: everyDay('08:00', '10:00') })
  const found = await slots(id, '?from=2026-11-23T09:30:00%2B01:00&to=2026-11-23T09:30:00Z')
  assert.deepEqual(
    found.map(({ start_at }) => start_at),
    ['2026-11-23T08:30:00.000Z', '2026-11-23T09:00:00.000Z'],
  )
  const past = await slots(id, '?from=2026-11-20T00:00:00Z&to=2026-11-21T23:00:00Z')
  assert.equal(past[0]?.start_at, '2026-11-21T08:30:00.000Z')
})

test('a range of no time or of more than 62 days is refused; nothing free is an empty page', async () => {
  const { id } = await newPage({ availability: {} })
  const range = (from_ms: number, to_ms: number) => `?from=${at(from_ms)}&to=${at(to_ms)}`
  const now = clock.now()
  assert.deepEqual((await call('GET', slotsPath(id, range(now, now + 62 * day)))).body, {
    success: true,
    data: [],
    meta: { current_page: 1, last_page: 1, per_page: 1, total: 0 },
  })
  for (const query of [range(now, now + 62 * day + 1), range(now, now), `?to=${at(now - 1)}`])
    assert.deepEqual(problems(await call('GET', slotsPath(id, query))), { to: 'out_of_range' })
  assert.deepEqual(problems(await call('GET', slotsPath(id, '?from=monday'))), { from: 'invalid_format' })
  refused(await call('GET', slotsPath(id, '?until=x')), 400, 'bad_request')
  refused(await call('GET', slotsPath(999_999, '?from=2026-11-22T00:00:00Z')), 404, 'not_found')
})

test('the last year that a time can name is no fault, only far away', async () => {
  const { id } = await newPage({ availability: everyDay('00:00', '24:00'), buffer_minutes: 1440 })
  assert.deepEqual(await slots(id, '?from=9999-12-20T00:00:00Z&to=9999-12-31T23:59:59.999Z'), [])
  assert.ok((await slots(id, '?from=0001-01-01T00:00:00Z&to=0001-01-02T00:00:00Z')).length === 0)
})

test('a page that is not active shows what it would offer', async () => {
  const { id } = await newPage({ active: false, availability: everyDay('10:00', '11:00') })
  assert.equal((await slots(id)).length, 14)
})

test('only live scheduled appointments of the same page take a slot, and its buffer', async () => {
  const rules = { availability: everyDay('10:00', '12:00'), buffer_minutes: 30 }
  const { id } = await newPage(rules)
  const other = await newPage(rules)
  const query = '?from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z'
  const all = await slots(id, query)
  assert.equal(all.length, 4)
  const { id: first } = (await book(id, all[0] as Slot)).body.data
  await book(other.id, all[3] as Slot)
  assert.deepEqual(await slots(id, query), all.slice(2))
  await ok('DELETE', `/api/v1/appointments/${first}`)
  assert.deepEqual(await slots(id, query), all)
  await ok('POST', `/api/v1/appointments/${first}/restore`)
  assert.deepEqual(await slots(id, query), all.slice(2))
  await ok('POST', `/api/v1/appointments/${first}/cancel`)
  assert.deepEqual(await slots(id, query), all)
})

test('one long appointment that began before the range takes what it reaches, as do those at the edges', async () => {
  const { id } = await newPage({ availability: everyDay('00:00', '24:00'), duration_minutes: 60 })
  const times = (start_at: string, end_at: string) => ({ start_at, end_at })
  await book(id, times('2026-11-22T00:00:00.000Z', '2026-11-25T02:00:00.000Z'))
  await book(id, times('2026-11-25T05:59:00.000Z', '2026-11-25T06:30:00.000Z'))
  const found = await slots(id, '?from=2026-11-25T00:00:00Z&to=2026-11-25T06:00:00Z')
  assert.deepEqual(
    found.map(({ start_at }) => start_at.slice(11, 13)),
    ['02', '03', '04'],
  )
})

test('every offered slot can be booked, and a booked slot and its buffer are no longer offered', async () => {
  const rules = fc.record({
    time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'),
    duration_minutes: fc.constantFrom(5, 20, 45, 90, 1440),
    buffer_minutes: fc.constantFrom(0, 0, 10, 60),
    minimum_notice_minutes: fc.constantFrom(0, 240, 3000),
    horizon_days: fc.constantFrom(1, 3, 60),
    availability: fc.constantFrom(everyDay('00:00', '24:00'), everyDay('09:00', '10:40'), {}),
    date_overrides: fc.constantFrom({}, { '2026-11-23': [{ from: '22:00', to: '24:00' }] }),
  })
  const picks = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(rules, picks, async (page, picked) => {
      const { id } = await newPage(page)
      const buffer_ms = page.buffer_minutes * minute
      let offered = await slots(id)
      for (const pick of picked) {
        const slot = offered[pick % Math.max(1, offered.length)]
        if (!slot) return
        const reply = await book(id, slot)
        assert.equal(reply.status, 201, reply.text)
        refused(await book(id, slot), 409, 'conflict')
        const [start, end] = [slot.start_at, slot.end_at].map(Date.parse) as [number, number]
        // Starts do not move, so the slots after it are those before it without the taken ones.
        const expected = offered.filter(
          (one) => Date.parse(one.end_at) + buffer_ms <= start || end + buffer_ms <= Date.parse(one.start_at),
        )
        offered = await slots(id)
        assert.deepEqual(offered, expected)
      }
    }),
    { numRuns: runs(25) },
  )
})

test('every one of a week of slots can be booked at once, and then the week is full', async () => {
  const { id } = await newPage({ availability: everyDay('09:00', '11:00') })
  const offered = await slots(id)
  assert.equal(offered.length, 28)
  const replies = await Promise.all(offered.map((slot) => book(id, slot)))
  for (const { status, text } of replies) assert.equal(status, 201, text)
  assert.deepEqual(await slots(id), [])
})
