// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  at,
  everyDay,
  freeSlots,
  hour,
  iso,
  minute,
  onDay,
  page,
  span,
  starts,
  whole_day,
} from '../../../test/booking/rules.ts'
import type { PageRules } from './availability.ts'

test('a day with a clock change is offered whole: shorter or longer by the change, without a break', () => {
  for (const [zone, date, first, count] of [
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00', 46],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00', 50],
    ['Europe/Berlin', '2027-03-28', '2027-03-27T23:00', 46],
    ['Europe/Berlin', '2027-10-31', '2027-10-30T22:00', 50],
    ['America/New_York', '2026-03-08', '2026-03-08T05:00', 46],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00', 50],
    ['America/New_York', '2027-03-14', '2027-03-14T05:00', 46],
    ['America/New_York', '2027-11-07', '2027-11-07T04:00', 50],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00', 49],
    ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30', 47],
    ['Australia/Lord_Howe', '2027-04-04', '2027-04-03T13:00', 49],
    ['Australia/Lord_Howe', '2027-10-03', '2027-10-02T13:30', 47],
  ] as const) {
    const expected = Array.from({ length: count }, (_, i) => at(iso(first)) + i * 30 * minute)
    assert.deepEqual(
      onDay(zone, date, whole_day).map(({ start_at }) => at(start_at)),
      expected,
      `${zone} ${date}`,
    )
  }
})

test('round wall-clock times are offered on each side of a clock change, a skipped one never, a repeated one twice', () => {
  for (const [zone, date, intervals, duration_minutes, expected] of [
    // 02:00 to 03:00 does not exist.
    ['Europe/Berlin', '2026-03-29', '01:00-04:00', 30, '00:00 00:30 01:00 01:30'],
    ['Europe/Berlin', '2027-03-28', '01:00-04:00', 60, '00:00 01:00'],
    // 02:00 to 03:00 comes twice.
    ['Europe/Berlin', '2026-10-25', '02:00-04:00', 30, '00:00 00:30 01:00 01:30 02:00 02:30'],
    ['Europe/Berlin', '2027-10-31', '02:00-04:00', 60, '00:00 01:00 02:00'],
    // 00:00, 00:45, 01:30, 02:15 in summer; 02:15 and 03:00 in winter.
    ['Europe/Berlin', '2026-10-25', '02:15-04:00', 45, '00:15 01:15 02:00'],
    ['America/New_York', '2026-03-08', '01:00-04:00', 30, '06:00 06:30 07:00 07:30'],
    ['America/New_York', '2027-03-14', '01:00-05:00', 60, '06:00 07:00 08:00'],
    ['America/New_York', '2026-11-01', '01:00-03:00', 30, '05:00 05:30 06:00 06:30 07:00 07:30'],
    ['America/New_York', '2027-11-07', '00:30-02:30', 60, '04:30 05:30 06:30'],
    // 02:00 to 02:30 does not exist.
    ['Australia/Lord_Howe', '2026-10-04', '01:00-04:00', 30, '14:30 15:00 15:30 16:00 16:30'],
    ['Australia/Lord_Howe', '2027-10-03', '01:00-04:00', 60, '14:30 16:00'],
    // 01:30 to 02:00 comes twice.
    ['Australia/Lord_Howe', '2026-04-05', '01:00-03:00', 30, '14:00 14:30 15:00 15:30 16:00'],
    ['Australia/Lord_Howe', '2027-04-04', '01:00-03:00', 60, '14:00 15:30'],
  ] as const) {
    const slots = onDay(zone, date, span(intervals), { duration_minutes })
    assert.equal(
      slots.map(({ start_at }) => start_at.slice(11, 16)).join(' '),
      expected,
      `${zone} ${date} ${intervals}`,
    )
  }
})

test('an interval that begins or ends inside a clock change is open exactly while the wall clock shows it', () => {
  for (const [zone, date, intervals, duration_minutes, expected] of [
    // Inside the skipped hour of Berlin: 01:00Z is 03:00.
    ['Europe/Berlin', '2026-03-29', '02:15-02:45', 15, ''],
    ['Europe/Berlin', '2026-03-29', '01:00-02:30', 30, '00:00 00:30'],
    ['Europe/Berlin', '2026-03-29', '02:30-04:00', 30, '01:00 01:30'],
    ['Europe/Berlin', '2026-03-29', '01:30-03:30', 60, '00:30'],
    // 01:30 lasts 90 minutes, until 04:00 on the wall; 03:00 would begin inside it.
    ['Europe/Berlin', '2026-03-29', '00:00-06:00', 90, '23:00 00:30 02:30'],
    // Inside the repeated hour of Berlin: 00:00Z and 01:00Z are both 02:00.
    ['Europe/Berlin', '2026-10-25', '02:15-02:45', 30, '00:15 01:15'],
    ['Europe/Berlin', '2026-10-25', '02:30-03:30', 30, '00:30 01:30 02:00'],
    ['Europe/Berlin', '2026-10-25', '02:30-03:30', 60, '01:30'],
    ['Europe/Berlin', '2026-10-25', '01:00-02:30', 30, '23:00 23:30 00:00 01:00'],
    ['Europe/Berlin', '2026-10-25', '00:30-02:30', 60, '22:30 23:30'],
    ['Europe/Berlin', '2026-10-25', '02:00-05:00', 120, '00:00'],
    ['America/New_York', '2026-03-08', '02:30-03:30', 30, '07:00'],
    ['America/New_York', '2026-11-01', '01:30-02:00', 30, '05:30 06:30'],
    ['Australia/Lord_Howe', '2026-10-04', '02:00-02:30', 15, ''],
    ['Australia/Lord_Howe', '2026-10-04', '02:15-03:00', 15, '15:30 15:45'],
    ['Australia/Lord_Howe', '2026-04-05', '01:45-02:15', 15, '14:45 15:15 15:30'],
    ['Australia/Lord_Howe', '2026-04-05', '01:15-01:45', 30, '14:15'],
  ] as const) {
    const slots = onDay(zone, date, span(intervals), { duration_minutes })
    assert.equal(
      slots.map(({ start_at }) => start_at.slice(11, 16)).join(' '),
      expected,
      `${zone} ${date} ${intervals}`,
    )
  }
})

test('the same wall-clock times are offered before and after a clock change', () => {
  const rules = page({ availability: everyDay(span('09:00-10:00')) })
  const now_ms = at('2026-03-27T00:00:00Z')
  assert.deepEqual(starts(freeSlots(rules, [], { from_ms: now_ms, to_ms: now_ms + 96 * hour, now_ms })), [
    '2026-03-27T08:00:00.000Z',
    '2026-03-27T08:30:00.000Z',
    '2026-03-28T08:00:00.000Z',
    '2026-03-28T08:30:00.000Z',
    '2026-03-29T07:00:00.000Z',
    '2026-03-29T07:30:00.000Z',
    '2026-03-30T07:00:00.000Z',
    '2026-03-30T07:30:00.000Z',
  ])
})

test('days are those of the page: across the date line, and without a day that a country skipped', () => {
  const range = (time_zone: string, from: string, to: string, now = from, changes: Partial<PageRules> = {}) =>
    starts(
      freeSlots(
        page({ time_zone, duration_minutes: 60, availability: { monday: span('09:00-11:00') }, ...changes }),
        [],
        {
          from_ms: at(from),
          to_ms: at(to),
          now_ms: at(now),
        },
      ),
    )
  // Monday 2026-11-23 begins on Sunday at 10:00Z in Kiritimati (+14), at 11:00Z in Apia (+13).
  assert.deepEqual(range('Pacific/Kiritimati', '2026-11-22T00:00Z', '2026-11-23T00:00Z'), [
    '2026-11-22T19:00:00.000Z',
    '2026-11-22T20:00:00.000Z',
  ])
  assert.deepEqual(range('Pacific/Apia', '2026-11-22T20:30Z', '2026-11-24T00:00Z'), [
    '2026-11-22T21:00:00.000Z',
  ])
  assert.deepEqual(range('Pacific/Apia', '2026-11-22T20:00Z', '2026-11-22T21:00Z'), [
    '2026-11-22T20:00:00.000Z',
  ])
  // Today is Monday already, and the only day.
  assert.deepEqual(
    range('Pacific/Kiritimati', '2026-11-22T10:00Z', '2026-12-22T00:00Z', '2026-11-22T10:00Z', {
      horizon_days: 0,
    }),
    ['2026-11-22T19:00:00.000Z', '2026-11-22T20:00:00.000Z'],
  )
  assert.deepEqual(
    range('Pacific/Kiritimati', '2026-11-22T09:59Z', '2026-12-22T00:00Z', '2026-11-22T09:59Z', {
      horizon_days: 0,
    }),
    [],
  )
  // Samoa had no Friday 2011-12-30: Thursday's midnight (-10) is Saturday's (+14).
  assert.deepEqual(
    range('Pacific/Apia', '2011-12-28T00:00Z', '2012-01-02T00:00Z', '2011-12-28T00:00Z', {
      availability: { thursday: span('23:00-24:00'), friday: whole_day, saturday: span('00:00-01:00') },
    }),
    ['2011-12-30T09:00:00.000Z', '2011-12-30T10:00:00.000Z'],
  )
})

test('two days that interleave, as the clock goes back across midnight, are in order also with a limit', () => {
  // St. John's went from 00:01 (-02:30) back to 23:01 (-03:30) at 2010-11-07T02:31Z.
  const now_ms = at('2010-11-06T12:00:00Z')
  const window = { from_ms: at('2010-11-07T01:55:00Z'), to_ms: at('2010-11-07T04:00:00Z'), now_ms }
  const rules = page({ time_zone: 'America/St_Johns', duration_minutes: 1 })
  const all = starts(freeSlots(rules, [], window))
  assert.deepEqual(
    all,
    Array.from({ length: 125 }, (_, i) => new Date(window.from_ms + i * minute).toISOString()),
  )
  for (const limit of [0, 1, 36, 37, 38, 90, 1000])
    assert.deepEqual(starts(freeSlots(rules, [], { ...window, limit })), all.slice(0, limit))
})
