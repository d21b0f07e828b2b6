// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zoneNames } from '../../src/zones/names.ts'
import { createFormats } from '../../web/src/app/intl.ts'
import {
  addDays,
  endOfDay,
  instantOf,
  isDay,
  isWall,
  laterOnWall,
  nextHalfHour,
  setOffsets,
  startOfDay,
  wallOf,
  zoneAt,
} from '../../web/src/app/zones.ts'
import { browserZones } from '../../web/src/people/zone-names.ts'

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

test('a year of few digits is a year, too', () => {
  assert.equal(instantOf('0020-05-12T10:30', 'UTC'), '0020-05-12T10:30:00.000Z')
  assert.equal(wallOf('0202-05-12T10:30:00.000Z', 'UTC'), '0202-05-12T10:30')
})

test('a day is that of the zone, also where it has 23 or 25 hours or begins after midnight', () => {
  assert.equal(startOfDay('2026-11-25', 'Europe/Berlin'), '2026-11-24T23:00:00.000Z')
  assert.equal(endOfDay('2026-11-25', 'Europe/Berlin'), '2026-11-25T22:59:59.999Z')
  assert.equal(startOfDay('2026-11-24', 'America/New_York'), '2026-11-24T05:00:00.000Z')
  const hours = (day: string, zone: string) =>
    (at(endOfDay(day, zone)) + 1 - at(startOfDay(day, zone))) / 3_600_000
  assert.equal(hours('2026-03-29', 'Europe/Berlin'), 23)
  assert.equal(hours('2026-10-25', 'Europe/Berlin'), 25)
  // There, midnight itself is skipped in spring, and what follows midnight comes twice in autumn.
  assert.equal(startOfDay('2026-04-24', 'Africa/Cairo'), '2026-04-23T22:00:00.000Z')
  assert.equal(hours('2026-04-24', 'Africa/Cairo'), 23)
  assert.equal(hours('2026-10-29', 'Africa/Cairo'), 25)
  assert.equal(hours('2026-10-25', 'Atlantic/Azores'), 25)
  assert.equal(startOfDay('2026-10-25', 'Atlantic/Azores'), '2026-10-25T00:00:00.000Z')
  assert.equal(addDays('2026-02-28', 1), '2026-03-01')
  assert.equal(addDays('2026-01-01', -1), '2025-12-31')
})

test('every hour of a year in many zones is found again by what the clock shows then, or is the second of two', () => {
  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Kathmandu']
  for (const zone of zones) {
    let again = 0
    for (let ms = at('2026-01-01T00:00Z'); ms < at('2027-01-01T00:00Z'); ms += 3_600_000) {
      const instant = new Date(ms).toISOString()
      const found = at(instantOf(wallOf(instant, zone), zone))
      assert.ok(found === ms || ms - found <= 3_600_000, `${zone} ${instant}`)
      if (found !== ms) again++
    }
    assert.ok(again <= 1, `${zone}: ${again}`)
  }
})

test('what somebody wrote into an address is a time or a day, or is none', () => {
  assert.ok(isWall('2026-11-24T10:00') && isDay('2026-11-24'))
  for (const text of ['', 'x', '2026-13-01', '2026-11-24T10', '2026-11-24T10:00:00Z']) {
    assert.ok(!isWall(text), text)
    assert.ok(!isDay(text), text)
  }
})

test('an hour later on the wall skips what the clock skips', () => {
  assert.equal(laterOnWall('2026-03-29T01:30', 60, 'Europe/Berlin'), '2026-03-29T03:30')
  assert.equal(laterOnWall('2026-11-24T23:45', 30, 'Europe/Berlin'), '2026-11-25T00:15')
})

test('something new begins at the next half hour of the zone', () => {
  assert.equal(nextHalfHour('Europe/Berlin', at('2026-11-24T09:01:00Z')), '2026-11-24T10:30')
  assert.equal(nextHalfHour('America/New_York', at('2026-11-24T09:30:00Z')), '2026-11-24T04:30')
})

test('a day begins where its zone says so, also where clocks are changed or midnight is skipped', () => {
  assert.equal(startOfDay('2026-03-29', 'Europe/Berlin'), '2026-03-28T23:00:00.000Z')
  assert.equal(endOfDay('2026-03-29', 'Europe/Berlin'), '2026-03-29T21:59:59.999Z')
  assert.equal(endOfDay('2026-10-25', 'Europe/Berlin'), '2026-10-25T22:59:59.999Z')
  assert.equal(startOfDay('2026-11-21', 'Pacific/Kiritimati'), '2026-11-20T10:00:00.000Z')
  assert.equal(startOfDay('2026-11-21', 'Pacific/Pago_Pago'), '2026-11-21T11:00:00.000Z')
  // In Cairo the clocks go forward at midnight: the day begins at one.
  assert.equal(startOfDay('2026-04-24', 'Africa/Cairo'), '2026-04-23T22:00:00.000Z')
})

test("the web app lists zones by today's names, as the public page does", () => {
  const names = new Set(zoneNames())
  assert.deepEqual(
    browserZones().filter((zone) => !names.has(zone)),
    [],
  )
})

test("the server's offsets count where the browser has other rules, also on the days before and after a change", () => {
  const zone = 'America/Winnipeg'
  const shown = (time: string) => createFormats('en-GB', zone, 'EUR').time(time)
  // As if the zone stayed at UTC-4 from a time on, which no browser has.
  const offsets = [
    { from: '2029-01-01T00:00:00.000Z', utc_offset_minutes: -330 },
    { from: '2029-06-10T12:00:00.000Z', utc_offset_minutes: -240 },
  ]
  try {
    setOffsets(zone, offsets)
    assert.equal(wallOf('2029-06-10T11:59:00.000Z', zone), '2029-06-10T06:29')
    assert.equal(wallOf('2029-06-10T12:00:00.000Z', zone), '2029-06-10T08:00')
    assert.equal(shown('2029-06-10T12:00:00.000Z'), '08:00')
    assert.equal(instantOf('2029-07-01T09:00', zone), '2029-07-01T13:00:00.000Z')
    assert.equal(startOfDay('2029-07-01', zone), '2029-07-01T04:00:00.000Z')
    // Other zones, and times before these, are those of the browser.
    assert.equal(wallOf('2029-07-01T12:00:00.000Z', 'Europe/Berlin'), '2029-07-01T14:00')
    assert.equal(zoneAt(Date.parse('2028-07-01T12:00:00.000Z'), zone), zone)
    setOffsets('Europe/Berlin', [
      { from: '2026-01-01T00:00:00.000Z', utc_offset_minutes: 60 },
      { from: '2026-03-29T01:00:00.000Z', utc_offset_minutes: 120 },
    ])
    assert.equal(zoneAt(Date.parse('2026-07-01T12:00:00.000Z'), 'Europe/Berlin'), 'Europe/Berlin')
  } finally {
    setOffsets(zone, [])
  }
})
