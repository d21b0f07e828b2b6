import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import ICAL from 'ical.js'
import { Temporal } from 'temporal-polyfill'
import { runs } from '../../test/quick.ts'
import { readBusyTimes } from './read.ts'

// ical.js expands the same rules with other code. The rules here are those that both read as RFC 5545 says; the others
// are named tests in read.test.ts.
const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
const some = <T>(values: readonly T[], most: number) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: most })
const numbered = fc.tuple(fc.constantFrom(1, 2, 3, 4, -1, -2), fc.constantFrom(...weekdays))
const part = (name: string) => (values: readonly unknown[]) => `${name}=${values.join(',')}`

const rule = fc
  .tuple(
    fc.oneof(
      fc.constant('FREQ=DAILY'),
      some(weekdays, 4).map((days) => `FREQ=WEEKLY;${part('BYDAY')(days)}`),
      some([1, 13, 15, 28, -1, -2], 2).map((days) => `FREQ=MONTHLY;${part('BYMONTHDAY')(days)}`),
      numbered.map(([n, day]) => `FREQ=MONTHLY;BYDAY=${n}${day}`),
      fc.constantFrom(1, -1).map((n) => `FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=${n}`),
      fc
        .tuple(fc.integer({ min: 1, max: 12 }), numbered)
        .map(([month, [n, day]]) => `FREQ=YEARLY;BYMONTH=${month};BYDAY=${n}${day}`),
      fc
        .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
        .map(([month, day]) => `FREQ=YEARLY;BYMONTH=${month};BYMONTHDAY=${day}`),
    ),
    fc.integer({ min: 1, max: 4 }),
    fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    fc.constantFrom('MO', 'SU'),
  )
  .map(([text, interval, count, week_start]) =>
    [text, `INTERVAL=${interval}`, ...(count ? [`COUNT=${count}`] : []), `WKST=${week_start}`].join(';'),
  )

const zones = [
  'America/New_York',
  'America/Santiago',
  'America/Sao_Paulo',
  'Europe/Berlin',
  'Europe/Dublin',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
  'Pacific/Chatham',
]
const to = Temporal.PlainDateTime.from('2028-01-01T00:00')
const from = Temporal.PlainDateTime.from('2026-01-01T00:00')

/** The starts by ical.js on the wall clock, and by Temporal in UTC: "compatible" is what RFC 5545, section 3.3.5 says. */
function startsOfOracle(text: string, start: string, zone: string): string[] {
  const iterator = ICAL.Recur.fromString(text).iterator(ICAL.Time.fromDateTimeString(start))
  const found: string[] = []
  for (let time = iterator.next(); time; time = iterator.next()) {
    const wall = Temporal.PlainDateTime.from(String(time))
    if (Temporal.PlainDateTime.compare(wall, to) >= 0) break
    if (Temporal.PlainDateTime.compare(wall, from) < 0) continue
    found.push(wall.toZonedDateTime(zone, { disambiguation: 'compatible' }).toInstant().toString())
  }
  return found
}

test('repeated events are where ical.js has them too, in twelve zones around clock changes', () => {
  fc.assert(
    fc.property(
      rule,
      fc.constantFrom(...zones),
      fc.date({
        min: new Date('2025-01-01T00:00Z'),
        max: new Date('2026-12-31T00:00Z'),
        noInvalidDate: true,
      }),
      // The hours at which clocks change, and others.
      fc.constantFrom('00:00', '00:30', '01:30', '02:00', '02:30', '03:15', '09:00', '23:45'),
      (text, zone, day, hour) => {
        // RFC 5545 leaves open a start that its rule does not give, and ical.js begins with any. The rule gives the second one.
        const iterator = ICAL.Recur.fromString(text.replace(/COUNT=\d+;/, '')).iterator(
          ICAL.Time.fromDateTimeString(`${day.toISOString().slice(0, 10)}T${hour}:00`),
        )
        iterator.next()
        const first = iterator.next()
        const start = String(first)
        const expected = startsOfOracle(text, start, zone)
        const file = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r
DTSTART;TZID=${zone}:${start.replaceAll(/[-:]/g, '')}\r\nDURATION:PT1M\r\nRRULE:${text}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`
        const { periods, skipped } = readBusyTimes(file, {
          time_zone: 'UTC',
          addresses: [],
          from_ms: Date.parse('2025-12-30T00:00Z'),
          to_ms: Date.parse('2028-01-03T00:00Z'),
          ianaOf: () => undefined,
        })
        assert.deepEqual(skipped, [])
        const wallOf = (ms: number) =>
          Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime()
        const found = periods
          .map(({ start_ms }) => start_ms)
          .filter((ms) => Temporal.PlainDateTime.compare(wallOf(ms), from) >= 0)
          .filter((ms) => Temporal.PlainDateTime.compare(wallOf(ms), to) < 0)
          .map((ms) => Temporal.Instant.fromEpochMilliseconds(ms).toString())
        assert.deepEqual(found, [...new Set(expected)].sort())
      },
    ),
    { numRuns: runs(100) },
  )
})
