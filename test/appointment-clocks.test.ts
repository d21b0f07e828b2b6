// runs: apart
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setZoneFolder } from '../src/zones/zones.ts'
import { makePage } from './booking.ts'
import { useStored } from './database.ts'
import { dataOf } from './envelope.ts'
import { callOf, turnableClock, useRapport } from './harness.ts'
import { setUp } from './people.ts'
import { runRapport } from './process.ts'
import { writeZoneFolder } from './zone-files.ts'

const hour = 3_600_000
const TZDIR = mkdtempSync(join(tmpdir(), 'rapport-zones-'))
after(() => rmSync(TZDIR, { recursive: true, force: true }))
const rule = 'CET-1CEST,M3.5.0,M10.5.0/3'
const changes = [{ at_ms: Date.parse('2025-03-30T01:00:00Z'), offset_ms: 2 * hour }]
writeZoneFolder(TZDIR, '2998a', { 'Europe/Berlin': { first_ms: hour, changes, rule } })

const clock = turnableClock(Date.parse('2026-11-25T12:00:00Z'))
const rapport = useRapport({ clock, env: { TZDIR } })
const stored = useStored(rapport)
const call = callOf(rapport)
const path = '/api/v1/appointments'

type Change = { id: number; start_at: string; kept_start_at: string; kept_end_at: string; time_zone: string }
const listed = async (): Promise<Change[]> => dataOf(await call('GET', `${path}/clock-changes`))
const startsOf = async () => (await listed()).map(({ start_at, kept_start_at }) => [start_at, kept_start_at])
const make = async (start_at: string, fields: object = {}, by = call) => {
  const end_at = new Date(Date.parse(start_at) + hour / 2).toISOString()
  return dataOf(await by('POST', path, { title: 'Demo', start_at, end_at, ...fields }))
}

/** The state of Berlin gets other rules: from 1 January 2027 its clock is at UTC+2, and later also in winter. */
function changeRules(version: string, offset_ms: number) {
  const decreed = { at_ms: Date.parse('2026-12-31T23:00:00Z'), offset_ms }
  const winter = { at_ms: Date.parse('2026-10-25T01:00:00Z'), offset_ms: hour }
  const letters = `<+0${offset_ms / hour}>-${offset_ms / hour}`
  writeZoneFolder(TZDIR, version, {
    'Europe/Berlin': { first_ms: hour, changes: [...changes, winter, decreed], rule: letters },
  })
  setZoneFolder(TZDIR)
}

test('after new rules of a zone, the appointments that lie ahead are listed and keep their wall clock', async () => {
  const { id: booking_page_id } = await makePage(rapport)
  const owner = await setUp(rapport, { time_zone: 'Europe/Berlin' })
  const by_owner: typeof call = (method, url, body) => owner(method, url.replace('/api/v1', ''), body)
  const early = await make('2027-02-02T08:00:00.000Z', { booking_page_id })
  const next = await make('2027-02-02T08:30:00.000Z', { booking_page_id })
  const own = await make('2027-02-03T08:00:00.000Z', {}, by_owner)
  const before = await make('2026-12-15T08:00:00.000Z', { booking_page_id })
  const in_summer = await make('2027-07-01T08:00:00.000Z', { booking_page_id })
  const nobodys = await make('2027-02-04T08:00:00.000Z')
  const called_off = await make('2027-02-05T08:00:00.000Z', { booking_page_id })
  await call('POST', `${path}/${called_off.id}/cancel`, {})
  assert.deepEqual(await listed(), [])

  changeRules('2999a', 2 * hour)
  assert.deepEqual(await startsOf(), [
    [early.start_at, '2027-02-02T07:00:00.000Z'],
    [next.start_at, '2027-02-02T07:30:00.000Z'],
    [own.start_at, '2027-02-03T07:00:00.000Z'],
  ])
  const doctor = JSON.parse(
    (await runRapport(['doctor', '--json'], { DATA_DIR: rapport.data_dir, TZDIR })).last,
  )
  const zones = doctor.findings.filter(({ area }: { area: string }) => area === 'zones')
  assert.match(zones[0].message, /2999a of this system.*other rules than those of Node: Europe\/Berlin\./)
  assert.match(zones[1].message, /Europe\/Berlin move 3 appointments of workspace 1/)

  // In the order of the list, appointments that touch do not get in each other's way.
  for (const { id, kept_start_at, kept_end_at } of (await listed()).slice(0, 2)) {
    const moved = dataOf(await call('POST', `${path}/${id}/keep-wall-clock`, {}))
    assert.deepEqual([moved.start_at, moved.end_at], [kept_start_at, kept_end_at])
    assert.deepEqual(dataOf(await call('POST', `${path}/${id}/keep-wall-clock`, {})), moved)
  }
  const events = await stored.events('appointment', early.id)
  assert.deepEqual(
    events.map(({ event }) => event),
    ['appointment.created', 'appointment.updated'],
  )
  assert.equal(events[1]?.previous?.start_at, early.start_at)

  const left = dataOf(await call('POST', `${path}/${own.id}/keep-time`, {}))
  assert.deepEqual(left, own)
  assert.equal((await stored.events('appointment', own.id)).length, 1)
  const audited = await stored.audit('appointments', own.id)
  assert.deepEqual(audited[1], {
    action: 'time_kept',
    before: { utc_offset_minutes: 60 },
    after: { utc_offset_minutes: 120 },
  })
  dataOf(await call('POST', `${path}/${own.id}/keep-time`, {}))
  assert.equal((await stored.audit('appointments', own.id)).length, 2)
  assert.deepEqual(await listed(), [])
  for (const { id, start_at } of [before, in_summer, nobodys])
    assert.equal(dataOf(await call('GET', `${path}/${id}`)).start_at, start_at)
})

test('an appointment that is moved by hand after new rules is not listed; one that moves into another is refused', async () => {
  const { id: booking_page_id } = await makePage(rapport, { slug: 'other' })
  const first = await make('2027-03-02T08:00:00.000Z', { booking_page_id })
  const second = await make('2027-03-02T09:00:00.000Z', { booking_page_id })
  const later = await make('2027-03-02T09:30:00.000Z', { booking_page_id })
  changeRules('2999b', hour)
  // Moves to a later time begin with the last one.
  assert.deepEqual(
    (await listed()).map(({ id }) => id).filter((id) => id >= first.id),
    [later.id, second.id, first.id],
  )
  const [end_at] = ['2027-03-02T10:30:00.000Z']
  assert.equal(
    (await call('PUT', `${path}/${later.id}`, { start_at: '2027-03-02T10:00:00.000Z', end_at })).status,
    200,
  )
  assert.ok((await listed()).every(({ id }) => id !== later.id))
  const refused = await call('POST', `${path}/${second.id}/keep-wall-clock`, {})
  assert.equal(refused.status, 409, refused.text)
  assert.equal(dataOf(await call('GET', `${path}/${second.id}`)).start_at, second.start_at)

  // Neither listed nor moved.
  await call('POST', `${path}/${first.id}/cancel`, {})
  assert.ok((await listed()).every(({ id }) => id !== first.id))
  const kept = dataOf(await call('POST', `${path}/${first.id}/keep-wall-clock`, {}))
  assert.deepEqual([kept.status, kept.start_at], ['cancelled', first.start_at])
})
