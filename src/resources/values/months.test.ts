// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayAfter, dayOf, daysIn, lastMonths, monthsAround, timesOf } from './months.ts'

const at = (text: string) => Date.parse(text)

test("months begin at the zone's own midnight, on both sides of a clock change, and join without a gap", () => {
  assert.deepEqual(lastMonths(3, 'Europe/Berlin', at('2026-11-21T08:30:00Z')), [
    { month: '2026-09', from: '2026-08-31T22:00:00.000Z', to: '2026-09-30T22:00:00.000Z' },
    { month: '2026-10', from: '2026-09-30T22:00:00.000Z', to: '2026-10-31T23:00:00.000Z' },
    { month: '2026-11', from: '2026-10-31T23:00:00.000Z', to: '2026-11-30T23:00:00.000Z' },
  ])
})

test('the current month is the one of the zone, on the last day of any month, over the turn of a year', () => {
  const names = (count: number, zone: string, now: string) =>
    lastMonths(count, zone, at(now)).map(({ month }) => month)
  assert.deepEqual(names(2, 'UTC', '2026-12-31T23:30:00Z'), ['2026-11', '2026-12'])
  assert.deepEqual(names(2, 'Europe/Berlin', '2026-12-31T23:30:00Z'), ['2026-12', '2027-01'])
  assert.deepEqual(names(2, 'America/New_York', '2027-01-01T03:00:00Z'), ['2026-11', '2026-12'])
  assert.deepEqual(names(3, 'UTC', '2026-03-31T12:00:00Z'), ['2026-01', '2026-02', '2026-03'])
  const all = names(36, 'UTC', '2026-05-31T12:00:00Z')
  assert.deepEqual([all.length, all[0], all.at(-1)], [36, '2023-06', '2026-05'])
})

test('a month or a day whose midnight is skipped begins with the first moment that there is', () => {
  // Asuncion went forward at midnight of 1 October 2017, Beirut at that of 26 March 2023.
  assert.equal(
    lastMonths(1, 'America/Asuncion', at('2017-10-15T00:00:00Z'))[0]?.from,
    '2017-10-01T04:00:00.000Z',
  )
  assert.deepEqual(dayOf('America/Asuncion', at('2017-10-01T12:00:00Z')), {
    from: '2017-10-01T04:00:00.000Z',
    to: '2017-10-02T03:00:00.000Z',
  })
})

test('a day of a clock change has 23 or 25 hours', () => {
  assert.deepEqual(dayOf('Europe/Berlin', at('2026-10-25T12:00:00Z')), {
    from: '2026-10-24T22:00:00.000Z',
    to: '2026-10-25T23:00:00.000Z',
  })
  assert.deepEqual(dayOf('Europe/Berlin', at('2026-03-29T00:00:00Z') + 0.25), {
    from: '2026-03-28T23:00:00.000Z',
    to: '2026-03-29T22:00:00.000Z',
  })
})

test("a period is from the first to the last millisecond of the zone's days, over a clock change", () => {
  assert.deepEqual(timesOf('2026-10-24', '2026-10-25', 'Europe/Berlin'), {
    from: '2026-10-23T22:00:00.000Z',
    to: '2026-10-25T22:59:59.999Z',
  })
  assert.deepEqual([daysIn('2026-10-24', '2026-10-25'), daysIn('2026-10-25', '2026-10-24')], [2, 0])
  assert.equal(dayAfter('2026-03-01', -1), '2026-02-28')
})

test('months after the current one follow it, into the next year', () => {
  const names = monthsAround(1, 2, 'Europe/Berlin', at('2026-11-30T23:30:00Z')).map(({ month }) => month)
  assert.deepEqual(names, ['2026-11', '2026-12', '2027-01', '2027-02'])
})
