// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import {
  at,
  everyDay,
  freeSlots,
  hour,
  isFreeSlot,
  iso,
  minute,
  onDay,
  page,
  span,
  starts,
  whole_day,
} from '../../../test/booking/rules.ts'
import { runs } from '../../../test/quick.ts'
import { canonicalTimeZone } from '../../zones/names.ts'
import {
  type Busy,
  type PageRules,
  ruleProblems,
  type Slot,
  type SlotWindow,
  weekdays,
} from './availability.ts'

test('overlapping intervals of a day are one, touching ones each begin their own row', () => {
  const slots = (intervals: string) =>
    onDay('UTC', '2026-11-23', span(intervals), { duration_minutes: 45 }).map((slot) =>
      slot.start_at.slice(11, 16),
    )
  assert.deepEqual(slots('09:30-11:00 09:00-10:00 09:15-09:20'), ['09:00', '09:45'])
  assert.deepEqual(slots('09:00-10:00 10:00-11:00'), ['09:00', '10:00'])
  assert.deepEqual(slots('09:00-09:44'), [])
})

test('hours that touch at midnight are one span: weekly, on single days and over the end of a week', () => {
  const now_ms = at('2026-11-20T00:00:00Z')
  const offered = (rules: Partial<PageRules>, days = 10) =>
    starts(
      freeSlots(page({ time_zone: 'UTC', availability: {}, duration_minutes: 120, ...rules }), [], {
        from_ms: now_ms,
        to_ms: now_ms + days * 24 * hour,
        now_ms,
      }),
    ).map((start) => start.slice(5, 16))
  const late = span('23:00-24:00')
  const early = span('00:00-01:00')
  // 22 November is a Sunday.
  assert.deepEqual(offered({ availability: { tuesday: late, wednesday: early } }), ['11-24T23:00'])
  assert.deepEqual(offered({ availability: { sunday: late, monday: early } }), ['11-22T23:00', '11-29T23:00'])
  assert.deepEqual(offered({ date_overrides: { '2026-11-24': late, '2026-11-25': early } }), ['11-24T23:00'])
  assert.deepEqual(offered({ availability: { tuesday: late }, date_overrides: { '2026-11-25': early } }), [
    '11-24T23:00',
  ])
  // A slot may end on the day after the horizon, and a day that is closed ends the span.
  const week = { availability: { tuesday: late, wednesday: early } }
  assert.deepEqual(offered({ ...week, horizon_days: 4 }), ['11-24T23:00'])
  assert.deepEqual(offered({ ...week, horizon_days: 3 }), [])
  assert.deepEqual(offered({ ...week, date_overrides: { '2026-11-25': [] } }), [])
  // The steps go on after midnight. The horizon ends between two of them.
  const night = { availability: { tuesday: span('22:00-24:00'), wednesday: span('00:00-02:00') } }
  const steps = ['11-24T22:00', '11-24T22:50', '11-24T23:40', '11-25T00:30']
  assert.deepEqual(offered({ ...night, duration_minutes: 50 }), steps)
  assert.deepEqual(offered({ ...night, duration_minutes: 50, horizon_days: 4 }), steps.slice(0, 3))
})

test('each midnight begins a span of hours that are open day and night', () => {
  const now_ms = at('2026-11-20T00:00:00Z')
  const rules = page({ time_zone: 'UTC', duration_minutes: 50 })
  const firsts = (from: string) =>
    starts(freeSlots(rules, [], { from_ms: at(from), to_ms: at(from) + 24 * hour, now_ms })).slice(0, 2)
  for (const day of ['2026-11-23', '2026-12-24'])
    assert.deepEqual(firsts(`${day}T00:00:00Z`), [iso(`${day}T00:00`), iso(`${day}T00:50`)])
})

test('an override replaces its day, and an empty one closes it', () => {
  const now_ms = at('2026-12-23T00:00:00Z')
  const rules = page({
    time_zone: 'UTC',
    availability: everyDay(span('09:00-10:00')),
    date_overrides: { '2026-12-24': [], '2026-12-25': span('20:00-20:30') },
  })
  assert.deepEqual(starts(freeSlots(rules, [], { from_ms: now_ms, to_ms: now_ms + 96 * hour, now_ms })), [
    '2026-12-23T09:00:00.000Z',
    '2026-12-23T09:30:00.000Z',
    '2026-12-25T20:00:00.000Z',
    '2026-12-26T09:00:00.000Z',
    '2026-12-26T09:30:00.000Z',
  ])
})

test('notice, horizon, range and buffer count to the minute', () => {
  const now_ms = at('2026-11-23T08:00:00Z')
  const offered = (
    changes: Partial<PageRules>,
    busy: Busy[] = [],
    from_ms = 0,
    to_ms = Number.POSITIVE_INFINITY,
  ) =>
    starts(
      freeSlots(
        page({ time_zone: 'UTC', horizon_days: 0, availability: everyDay(span('08:00-10:00')), ...changes }),
        busy,
        {
          from_ms,
          to_ms,
          now_ms,
        },
      ),
    ).map((start) => start.slice(8, 16))
  assert.deepEqual(offered({}), ['23T08:00', '23T08:30', '23T09:00', '23T09:30'])
  assert.deepEqual(offered({ minimum_notice_minutes: 60 }), ['23T09:00', '23T09:30'])
  assert.deepEqual(offered({ minimum_notice_minutes: 61 }), ['23T09:30'])
  assert.equal(offered({ horizon_days: 2 }).at(-1), '25T09:30')
  const range = [at('2026-11-23T08:30:00Z'), at('2026-11-23T09:30:00Z')] as const
  assert.deepEqual(offered({}, [], ...range), ['23T08:30', '23T09:00'])
  assert.deepEqual(offered({}, [], range[1], range[0]), [])
  const busy = [{ start_ms: range[0], end_ms: at('2026-11-23T09:00:00Z') }]
  assert.deepEqual(offered({}, busy), ['23T08:00', '23T09:00', '23T09:30'])
  assert.deepEqual(offered({ buffer_minutes: 1 }, busy), ['23T09:30'])
  assert.deepEqual(offered({ buffer_minutes: 30 }, busy), ['23T09:30'])
  assert.deepEqual(offered({ buffer_minutes: 31 }, busy), [])
  assert.deepEqual(offered({}, [{ start_ms: 0, end_ms: at('2026-11-23T09:10:00Z') }, ...busy]), ['23T09:30'])
})

// Times around clock changes of each kind: an hour, half an hour, at midnight, across midnight, a whole day, none.
const places = fc.constantFrom(
  ['Europe/Berlin', '2026-03-28T10:00Z'],
  ['Europe/Berlin', '2026-10-24T10:00Z'],
  ['America/New_York', '2027-03-13T10:00Z'],
  ['America/New_York', '2027-11-06T10:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T03:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T03:00Z'],
  ['America/Santiago', '2026-04-04T10:00Z'],
  ['America/Santiago', '2026-09-05T10:00Z'],
  ['America/St_Johns', '2010-11-06T10:00Z'],
  ['Pacific/Apia', '2011-12-29T10:00Z'],
  ['Pacific/Kiritimati', '2026-11-21T10:00Z'],
  ['Asia/Kathmandu', '2026-11-21T10:00Z'],
)
const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const intervals = fc.oneof(
  { weight: 1, arbitrary: fc.constant(whole_day) },
  {
    weight: 3,
    arbitrary: fc.array(
      fc
        .tuple(fc.nat(287), fc.integer({ min: 1, max: 288 }))
        .map(([from, length]) => ({ from: clock(from * 5), to: clock(Math.min(from + length, 288) * 5) })),
      { maxLength: 3 },
    ),
  },
  // Hours that touch at midnight.
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 140 }), fc.integer({ min: 141, max: 287 }))
      .map(([to, from]) => [
        { from: '00:00', to: clock(to * 5) },
        { from: clock(from * 5), to: '24:00' },
      ]),
  },
)
const situations = fc
  .record({
    place: places,
    minute_of_now: fc.nat(1440),
    duration_minutes: fc.constantFrom(5, 15, 20, 30, 45, 50, 60, 90, 120, 180, 1440),
    buffer_minutes: fc.constantFrom(0, 0, 5, 10, 45),
    minimum_notice_minutes: fc.constantFrom(0, 0, 7, 240),
    horizon_days: fc.nat(2),
    week: fc.array(intervals, { minLength: 7, maxLength: 7 }),
    override: fc.option(intervals),
    busy: fc.array(fc.tuple(fc.nat(3 * 1440), fc.integer({ min: 1, max: 300 })), { maxLength: 6 }),
    from: fc.integer({ min: -1440, max: 1440 }),
    length: fc.nat(3 * 1440),
  })
  .map(({ place: [time_zone, day], minute_of_now, week, override, busy, from, length, ...numbers }) => {
    const now_ms = at(day as string) + minute_of_now * minute
    const tomorrow = new Date(at(day as string) + 24 * hour).toISOString().slice(0, 10)
    const rules: PageRules = {
      ...numbers,
      time_zone: time_zone as string,
      availability: Object.fromEntries(weekdays.map((weekday, i) => [weekday, week[i]])),
      date_overrides: override ? { [tomorrow]: override } : {},
    }
    const from_ms = now_ms + from * minute
    return {
      rules,
      busy: busy.map(([start, minutes]) => ({
        start_ms: now_ms + start * minute,
        end_ms: now_ms + (start + minutes) * minute,
      })),
      window: { from_ms, to_ms: from_ms + length * minute, now_ms },
    }
  })

type Situation = { rules: PageRules; busy: Busy[]; window: SlotWindow }

const wall = (ms: number, zone: string) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
const ms = ({ start_at, end_at }: Slot) => ({ start_ms: at(start_at), end_ms: at(end_at) })
const intervalsOn = (rules: PageRules, time: Temporal.ZonedDateTime) =>
  rules.date_overrides[time.toPlainDate().toString()] ??
  rules.availability[weekdays[time.dayOfWeek - 1] ?? 'monday'] ??
  []

test('every offered slot is exact, apart from the others, keeps buffer, notice, range and horizon, and lies in open wall-clock time', () => {
  fc.assert(
    fc.property(situations, ({ rules, busy, window }) => {
      const buffer_ms = rules.buffer_minutes * minute
      const last_day = wall(window.now_ms, rules.time_zone).toPlainDate().add({ days: rules.horizon_days })
      let before = Number.NEGATIVE_INFINITY
      for (const slot of freeSlots(rules, busy, window)) {
        const { start_ms, end_ms } = ms(slot)
        assert.equal(end_ms - start_ms, rules.duration_minutes * minute)
        assert.ok(start_ms >= before, 'slots overlap')
        before = end_ms
        for (const other of busy)
          assert.ok(other.end_ms + buffer_ms <= start_ms || end_ms + buffer_ms <= other.start_ms, 'buffer')
        assert.ok(start_ms >= window.now_ms + rules.minimum_notice_minutes * minute, 'notice')
        assert.ok(start_ms >= window.from_ms && start_ms < window.to_ms, 'range')
        const start = wall(start_ms, rules.time_zone)
        assert.ok(Temporal.PlainDate.compare(start.toPlainDate(), last_day) <= 0, 'horizon')
        for (const time of [start, wall(end_ms - 1, rules.time_zone)]) {
          const shown = time.toPlainTime().toString().slice(0, 5)
          assert.ok(
            intervalsOn(rules, time).some(({ from, to }) => from <= shown && shown < to),
            `${time} is closed`,
          )
        }
      }
    }),
    { numRuns: runs(300) },
  )
})

const read = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
const wallMinutes = (time: Temporal.ZonedDateTime) =>
  time.toPlainDateTime().toZonedDateTime('UTC').epochMilliseconds / minute

/** The open minutes of a day, in order; intervals that overlap are one. */
function spansOn(rules: PageRules, time: Temporal.ZonedDateTime) {
  const spans: { from: number; to: number }[] = []
  for (const { from, to } of intervalsOn(rules, time).toSorted((a, b) => read(a.from) - read(b.from))) {
    const last = spans.at(-1)
    if (last && read(from) < last.to) last.to = Math.max(last.to, read(to))
    else spans.push({ from: read(from), to: read(to) })
  }
  return spans
}

/** How many minutes before a midnight the span began that is open after it. */
function minutesBefore(rules: PageRules, time: Temporal.ZonedDateTime): number {
  const on = (days: number) => spansOn(rules, noon(time).subtract({ days }))
  const isWhole = (days: number) => on(days).some(({ from, to }) => to - from === 24 * 60)
  if ([1, 2, 3, 4, 5, 6, 7].every(isWhole)) return 0
  const last = on(1).at(-1)
  if (last?.to !== 24 * 60) return 0
  return last.from ? 24 * 60 - last.from : 24 * 60 + minutesBefore(rules, noon(time).subtract({ days: 1 }))
}
// Each calendar day counts, also one that a zone skips.
const noon = (time: Temporal.ZonedDateTime) =>
  time.toPlainDateTime().with({ hour: 12 }).toZonedDateTime('UTC')

/** The same rules, applied minute by minute: a slow reference implementation. */
function minuteByMinute({ rules, busy, window }: Situation) {
  const first = window.now_ms - 72 * hour
  const keys: (string | null)[] = []
  const steps: number[] = []
  const days: string[] = []
  let spans: { from: number; to: number }[] = []
  let before_midnight = 0
  for (let time_ms = first; time_ms < window.now_ms + 170 * hour; time_ms += minute) {
    const time = wall(time_ms, rules.time_zone)
    const shown = time.hour * 60 + time.minute
    const day = time.toPlainDate().toString()
    if (day !== days.at(-1)) {
      spans = spansOn(rules, time)
      before_midnight = minutesBefore(rules, time)
    }
    days.push(day)
    const open = spans.find(({ from, to }) => from <= shown && shown < to)
    const begin = open && (open.from || -before_midnight)
    keys.push(begin === undefined ? null : `${wallMinutes(time) - shown + begin}`)
    steps.push(begin === undefined ? -1 : (shown - begin) % rules.duration_minutes)
  }
  const last_day = wall(window.now_ms, rules.time_zone)
    .toPlainDate()
    .add({ days: rules.horizon_days })
    .toString()
  const buffer_ms = rules.buffer_minutes * minute
  const offered: number[] = []
  let taken_until = -1
  for (let i = 0; i < keys.length - rules.duration_minutes; i++) {
    const key = keys[i]
    if (key == null || steps[i] !== 0 || i < taken_until) continue
    if (!keys.slice(i, i + rules.duration_minutes).every((other) => other === key)) continue
    taken_until = i + rules.duration_minutes
    const start_ms = first + i * minute
    const end_ms = start_ms + rules.duration_minutes * minute
    if (start_ms < window.from_ms || start_ms >= window.to_ms || (days[i] as string) > last_day) continue
    if (start_ms < window.now_ms + rules.minimum_notice_minutes * minute) continue
    if (busy.some((other) => other.start_ms < end_ms + buffer_ms && start_ms < other.end_ms + buffer_ms))
      continue
    offered.push(start_ms)
  }
  return offered
}

test('exactly the slots are offered that follow from the rules minute by minute', () => {
  fc.assert(
    fc.property(situations, (situation) => {
      const offered = freeSlots(situation.rules, situation.busy, situation.window).map((slot) =>
        at(slot.start_at),
      )
      assert.deepEqual(offered, minuteByMinute(situation))
    }),
    { numRuns: runs(25) },
  )
})

test('a start is free when it is offered, and no other start is', () => {
  fc.assert(
    fc.property(situations, ({ rules, busy, window }) => {
      const offered = new Set(freeSlots(rules, busy, window).map((slot) => at(slot.start_at)))
      const tried = [...offered]
        .slice(0, 40)
        .flatMap((start) => [start, start + minute, start - minute, start + 0.5])
      for (let i = 0; i < 40; i++)
        tried.push(window.from_ms + ((i * (window.to_ms - window.from_ms)) / 40 / minute) * minute)
      for (const start of tried)
        if (start >= window.from_ms && start < window.to_ms)
          assert.equal(
            isFreeSlot(rules, busy, start, window.now_ms),
            offered.has(start),
            new Date(start).toISOString(),
          )
    }),
    { numRuns: runs(40) },
  )
  // A clock may have fractions of a millisecond.
  const start_ms = at('2026-11-23T08:30:00Z')
  assert.equal(isFreeSlot(page(), [], start_ms, start_ms - 0.25), true)
  assert.equal(isFreeSlot(page(), [], start_ms, start_ms + 0.25), false)
  for (const start of [Number.NaN, Number.POSITIVE_INFINITY, -1e20, 1e20])
    assert.equal(isFreeSlot(page(), [], start, at('2026-11-21T08:30:00Z')), false)
})

test('a booked slot is gone, with those that its buffer touches and no other', () => {
  fc.assert(
    fc.property(situations, fc.nat(), ({ rules, busy, window }, which) => {
      const offered = freeSlots(rules, busy, window).map(ms)
      const booked = offered[which % offered.length]
      if (!booked) return
      const buffer_ms = rules.buffer_minutes * minute
      assert.deepEqual(
        freeSlots(rules, [...busy, booked], window).map(ms),
        offered.filter(
          ({ start_ms, end_ms }) =>
            end_ms + buffer_ms <= booked.start_ms || booked.end_ms + buffer_ms <= start_ms,
        ),
      )
    }),
    { numRuns: runs(200) },
  )
})

test('fifty thousand busy times do not each cost a look at every slot', () => {
  const now_ms = at('2026-01-01T00:00:00Z')
  const rules = page({ duration_minutes: 5, horizon_days: 400, time_zone: 'UTC' })
  const ask = (count: number) => {
    const busy = Array.from({ length: count }, (_, i) => ({
      start_ms: now_ms + (count - i) * 10 * minute,
      end_ms: now_ms + (count - i) * 10 * minute + 5 * minute,
    }))
    const began = process.threadCpuUsage()
    const slots = freeSlots(rules, busy, { from_ms: 0, to_ms: Number.POSITIVE_INFINITY, now_ms })
    assert.equal(slots.length, 401 * 288 - count)
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / 1000
  }
  ask(1000)
  const few = Math.min(ask(100), ask(100), ask(100))
  const many = Math.min(ask(50_000), ask(50_000), ask(50_000))
  // A scan of the busy times for each slot would be hundreds of times slower.
  assert.ok(many < few * 20, `${few} ms, then ${many} ms`)
})

test('rules of any JSON are judged without an error, and those without problems can be asked for slots', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), fc.string(), (a, b, c, zone) => {
      ruleProblems(a)
      ruleProblems({ time_zone: a, availability: b, date_overrides: c })
      ruleProblems({
        time_zone: zone,
        availability: { monday: a, sunday: [b, c] },
        date_overrides: { [zone]: a },
      })
      assert.ok(canonicalTimeZone(zone) === null || /^[A-Z]/.test(canonicalTimeZone(zone) as string))
    }),
  )
  fc.assert(
    fc.property(situations, ({ rules, busy, window }) => {
      for (const { code } of ruleProblems(rules)) assert.equal(code, 'overlapping_intervals')
      freeSlots(rules, busy, window)
    }),
  )
})
