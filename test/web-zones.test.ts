import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayAt, instantOf, laterOnWall, nextHalfHour, wallOf } from '../web/src/calendar/zones.ts'

const at = Date.parse

test('an instant and what the clock shows then are turned into each other, in winter and in summer', () => {
  for (const [zone, wall, instant] of [
    ['Europe/Berlin', '2026-11-24T10:00', '2026-11-24T09:00:00.000Z'],
    ['Europe/Berlin', '2026-07-24T10:00', '2026-07-24T08:00:00.000Z'],
    ['America/New_York', '2026-11-24T23:30', '2026-11-25T04:30:00.000Z'],
    ['Asia/Kathmandu', '2026-11-24T00:15', '2026-11-23T18:30:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-25T00:00', '2026-11-24T10:00:00.000Z'],
  ] as const) {
    assert.equal(instantOf(wall, zone), instant)
    assert.equal(wallOf(instant, zone), wall)
  }
})

test('a time that the clock skips is an hour later, and of one that comes twice it is the first', () => {
  assert.equal(instantOf('2026-03-29T02:30', 'Europe/Berlin'), '2026-03-29T01:30:00.000Z')
  assert.equal(wallOf('2026-03-29T01:30:00.000Z', 'Europe/Berlin'), '2026-03-29T03:30')
  assert.equal(instantOf('2026-10-25T02:30', 'Europe/Berlin'), '2026-10-25T00:30:00.000Z')
  assert.equal(wallOf('2026-10-25T01:30:00.000Z', 'Europe/Berlin'), '2026-10-25T02:30')
})

test('a day is that of the zone, also where it has 23 or 25 hours or begins after midnight', () => {
  const evening = at('2026-11-24T23:30:00Z')
  assert.deepEqual(dayAt('Europe/Berlin', 0, evening), {
    from: '2026-11-24T23:00:00.000Z',
    to: '2026-11-25T22:59:59.999Z',
  })
  assert.equal(dayAt('America/New_York', 0, evening).from, '2026-11-24T05:00:00.000Z')
  const hours = (zone: string, now: string) => {
    const { from, to } = dayAt(zone, 0, at(now))
    return (at(to) + 1 - at(from)) / 3_600_000
  }
  assert.equal(hours('Europe/Berlin', '2026-03-29T12:00:00Z'), 23)
  assert.equal(hours('Europe/Berlin', '2026-10-25T12:00:00Z'), 25)
  assert.equal(hours('Africa/Cairo', '2026-04-24T12:00:00Z'), 23)
  assert.equal(dayAt('Europe/Berlin', 1, at('2026-10-24T12:00:00Z')).from, '2026-10-24T22:00:00.000Z')
})

test('an hour later on the wall skips what the clock skips', () => {
  assert.equal(laterOnWall('2026-03-29T01:30', 60, 'Europe/Berlin'), '2026-03-29T03:30')
  assert.equal(laterOnWall('2026-11-24T23:45', 30, 'Europe/Berlin'), '2026-11-25T00:15')
})

test('something new begins at the next half hour of the zone', () => {
  assert.equal(nextHalfHour('Europe/Berlin', at('2026-11-24T09:01:00Z')), '2026-11-24T10:30')
  assert.equal(nextHalfHour('America/New_York', at('2026-11-24T09:30:00Z')), '2026-11-24T04:30')
})
