// runs: once
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { scratchFolder } from '../../test/process.ts'
import { runs } from '../../test/quick.ts'
import { writeZoneFolder, zoneFile } from '../../test/zone-files.ts'
import { folderData, shipped, sourcesOf } from './data.ts'
import { canonicalTimeZone, todaysName, zoneNames } from './names.ts'
import { parseRule } from './posix-rule.ts'
import { dayAt, offsetAt, startOfDay, timesAt, wallAt } from './wall.ts'
import { tabledZone, type ZoneTable, zoneOfNode } from './zone.ts'
import { parseZoneFile } from './zone-file.ts'
import { zoneOf } from './zones.ts'

const at = (text: string) => Date.parse(text)
const hour = 3_600_000
const iso = (ms: number) => new Date(ms).toISOString()
const of = (times: number[]) => times.map(iso)

/** A zone that is at UTC+1, and from 2 November 2030 at UTC+2. */
const changed: ZoneTable = {
  first_ms: hour,
  changes: [{ at_ms: at('2030-11-02T00:00:00Z'), offset_ms: 2 * hour }],
  rule: '<+02>-2',
}

// Pacific/Apia by zic -b slim, of 2026f.
const apia =
  'VFppZjIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAEAAAAAAAAAVFppZjIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAaAAAABwAAABr/////bj3JAP////+RBfwA/////9piBDgAAAAATJ8nsAAAAABNlyvgAAAAAE594mAAAAAATv2LoAAAAABPdw3gAAAAAFBm/uAAAAAAUWAqYAAAAABSRuDgAAAAAFNADGAAAAAAVCbC4AAAAABVH+5gAAAAAFYGpOAAAAAAVv/QYAAAAABX5obgAAAAAFjfsmAAAAAAWcZo4AAAAABav5RgAAAAAFuvhWAAAAAAXKiw4AAAAABdj2dgAAAAAF6IkuAAAAAAX29JYAAAAABgaHTgAQIEAwQDBgUGBQYFBgUGBQYFBgUGBQYFBgUAALCAAAD//18AAAD//15IAAT//3NgAQr//2VQAA4AALbQABIAAMTgARZMTVQALTExMzAALTEwAC0xMQArMTMAKzE0AAo8KzEzPi0xMwo='

test('a compiled zone file of zic is read: its changes, a skipped day, and the rule after them', () => {
  const table = parseZoneFile(Buffer.from(apia, 'base64'))
  assert.ok(table)
  const zone = tabledZone(table)
  for (const [time, offset] of [
    ['2011-12-30T09:59:59.999Z', -10],
    ['2011-12-30T10:00:00.000Z', 14],
    ['2021-04-03T13:59:59.999Z', 14],
    ['2021-04-03T14:00:00.000Z', 13],
    ['2090-01-01T00:00:00.000Z', 13],
  ] as const)
    assert.equal(zone.offsetAt(at(time)), offset * hour, time)
  assert.equal(zone.changeAfter(at('2021-01-01T00:00:00Z')), at('2021-04-03T14:00:00Z'))
  assert.equal(zone.changeAfter(at('2021-04-03T14:00:00Z')), null)
})

test('bytes that are no compiled zone file are none, wherever a file is cut off', () => {
  const whole = Buffer.from(apia, 'base64')
  for (let length = 0; length < whole.length - 40; length++)
    assert.equal(parseZoneFile(whole.subarray(0, length)), null, String(length))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(43), (noise, from) => {
      parseZoneFile(Buffer.from(noise))
      const damaged = Buffer.from(whole)
      damaged.set(noise, from)
      parseZoneFile(damaged)
    }),
  )
})

test('the rule after the last change has every form of POSIX and the hours of RFC 9636', () => {
  for (const [text, ...expected] of [
    ['CET-1CEST,M3.5.0,M10.5.0/3', '2027-03-28T01:00:00.000Z +2', '2027-10-31T01:00:00.000Z +1'],
    ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', '2027-03-28T01:00:00.000Z -1', '2027-10-31T01:00:00.000Z -2'],
    ['IST-1GMT0,M10.5.0,M3.5.0/1', '2027-03-28T01:00:00.000Z +1', '2027-10-31T01:00:00.000Z +0'],
    ['EST5EDT4,J60/2:30:15,J300', '2027-03-01T07:30:15.000Z -4', '2027-10-27T06:00:00.000Z -5'],
    ['EST5EDT,59,299', '2027-03-01T07:00:00.000Z -4', '2027-10-27T06:00:00.000Z -5'],
    ['IST-2IDT,M3.4.4/26,M10.5.0', '2027-03-26T00:00:00.000Z +3', '2027-10-30T23:00:00.000Z +2'],
    [
      '<+1030>-10:30<+11>-11,M10.1.0,M4.1.0',
      '2027-04-03T15:00:00.000Z +10.5',
      '2027-10-02T15:30:00.000Z +11',
    ],
    ['EST5'],
  ]) {
    const found = parseRule(text as string)?.(2027) ?? []
    const shown = found
      .toSorted((a, b) => a.at_ms - b.at_ms)
      .map(({ at_ms, offset_ms }) => `${iso(at_ms)} ${offset_ms < 0 ? '' : '+'}${offset_ms / hour}`)
    assert.deepEqual(shown, expected, text)
  }
  // J60 is 1 March also in a leap year; day 59 is 29 February then.
  assert.equal(iso(parseRule('EST5EDT,J60,J300')?.(2028)[0]?.at_ms ?? 0), '2028-03-01T07:00:00.000Z')
  assert.equal(iso(parseRule('EST5EDT,59,299')?.(2028)[0]?.at_ms ?? 0), '2028-02-29T07:00:00.000Z')
  for (const text of ['', 'EST', 'EST5EDT', 'EST5EDT,M3.2.0', '5', 'EST5 '])
    assert.equal(parseRule(text), null, text)
})

// Rules that changed after the data of the pinned Node.
const newer = ['America/Havana', 'America/Inuvik', 'America/Rainy_River', 'America/Winnipeg']

test('what Rapport ships gives the changes of Node for every zone whose rules are the same', () => {
  const data = sourcesOf('/nowhere').find(({ source }) => source === 'rapport')
  const names = Object.keys(shipped().zones).filter((name) => !newer.includes(name))
  assert.ok(names.length > 400)
  for (const name of names) {
    const [ours, node] = [data?.read(name), zoneOfNode(name)]
    assert.ok(ours && node, name)
    for (const from of ['2026-01-01T00:00:00Z', '2030-06-01T00:00:00Z', '2044-01-01T00:00:00Z']) {
      assert.equal(ours.offsetAt(at(from)), node.offsetAt(at(from)), `${name} at ${from}`)
      assert.equal(ours.changeAfter(at(from)), node.changeAfter(at(from)), `${name} after ${from}`)
    }
  }
})

test('what Rapport ships is as new as the data of the pinned Node, and has the rules of November 2026', () => {
  const data = sourcesOf('/nowhere')
  assert.equal(data[0]?.source, 'rapport')
  for (const [name, time, offset] of [
    ['America/Winnipeg', '2026-10-31T12:00:00Z', -5],
    ['America/Winnipeg', '2026-12-01T12:00:00Z', -5],
    ['Canada/Central', '2027-12-01T12:00:00Z', -5],
    ['America/Havana', '2026-12-01T12:00:00Z', -4],
    ['America/Havana', '2027-12-01T12:00:00Z', -5],
    // Before 2025, the shipped tables say nothing.
    ['America/Winnipeg', '1999-12-01T12:00:00Z', -6],
  ] as const)
    assert.equal(data[0]?.read(name)?.offsetAt(at(time)), offset * hour, `${name} ${time}`)
})

test('the newest of the data of Node, the system and Rapport comes first', (t) => {
  const folder = scratchFolder(t)
  const sources = (version: string) => {
    writeZoneFolder(folder, version, { 'Europe/Berlin': changed })
    return sourcesOf(folder).map(({ source }) => source)
  }
  assert.deepEqual(sources('2999a'), ['system', 'rapport', 'node'])
  assert.deepEqual(sources(shipped().version), ['system', 'rapport', 'node'])
  assert.deepEqual(sources('1999z'), ['rapport', 'node', 'system'])
  writeFileSync(join(folder, 'tzdata.zi'), 'of no version')
  assert.equal(folderData(folder), null)
  writeFileSync(join(folder, '+VERSION'), '2999a\n')
  assert.equal(folderData(folder)?.version, '2999a')
  assert.equal(folderData(folder)?.read('Europe/Paris'), null)
  writeFileSync(join(folder, 'Europe/Berlin'), zoneFile(changed).subarray(0, 60))
  assert.equal(folderData(folder)?.read('Europe/Berlin'), null)
})

test('a day begins with its first moment, a skipped time is shown never and a repeated one twice', () => {
  const wall = (text: string) => at(`${text}Z`)
  assert.deepEqual(of(timesAt(wall('2027-03-28T02:30'), 'Europe/Berlin')), [])
  assert.deepEqual(of(timesAt(wall('2027-10-31T02:30'), 'Europe/Berlin')), [
    '2027-10-31T00:30:00.000Z',
    '2027-10-31T01:30:00.000Z',
  ])
  // Beirut skipped the midnight of 26 March 2023, and Apia the whole of 30 December 2011.
  assert.equal(iso(startOfDay('2023-03-26', 'Asia/Beirut')), '2023-03-25T22:00:00.000Z')
  assert.equal(iso(startOfDay('2011-12-30', 'Pacific/Apia')), '2011-12-30T10:00:00.000Z')
  assert.equal(iso(startOfDay('2026-12-15', 'America/Winnipeg')), '2026-12-15T05:00:00.000Z')
  assert.equal(dayAt(at('2026-12-16T04:59:59Z'), 'America/Winnipeg'), '2026-12-15')
  assert.throws(() => offsetAt(0, 'Europe/Nowhere'), RangeError)
})

test('in every zone, a time is among those that its wall clock shows, and a day begins where the day before ends', () => {
  const names = Object.keys(shipped().zones)
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.integer({ min: at('1971-01-01T00:00Z'), max: at('2060-01-01T00:00Z') }),
      (name, near) => {
        // Close to a change of the clock, if there is one later.
        const change = zoneOf(name).changeAfter(near) ?? near
        for (const by of [-13 * hour, -hour, -1, 0, 1, hour, 13 * hour]) {
          const time = change + by
          const times = timesAt(wallAt(time, name), name)
          assert.ok(times.includes(time), `${name} ${iso(time)}`)
          for (const other of times) assert.equal(wallAt(other, name), wallAt(time, name))
          const day = dayAt(time, name)
          const start = startOfDay(day, name)
          assert.ok(start <= time || dayAt(start, name) === day, `${name} ${day}`)
          assert.equal(dayAt(start, name), day)
          assert.ok(timesAt(at(`${day}T00:00Z`), name).every((midnight) => start <= midnight))
        }
      },
    ),
    { numRuns: runs(500) },
  )
})

test('a name is known in any capitals, and each name that is listed is known', () => {
  for (const name of zoneNames()) {
    assert.equal(canonicalTimeZone(name.toLowerCase()), name)
    assert.equal(typeof offsetAt(0, name), 'number')
  }
  assert.deepEqual(['Asia/Calcutta', 'Africa/Asmera', 'Europe/Berlin', 'UTC'].map(todaysName), [
    'Asia/Kolkata',
    'Africa/Asmara',
    'Europe/Berlin',
    'UTC',
  ])
})
