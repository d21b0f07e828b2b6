// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { transaction } from '../../src/db/db.ts'
import { ana, type Made, openPage, timesOf, unescaped } from '../booking.ts'
import { openScratch } from '../engine.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { runs } from '../quick.ts'
import { everyDay, span, whole_day } from './rules.ts'

const day = 86_400_000
const clock = turnableClock(Date.parse('2026-11-01T00:30:00+01:00'))
const rapport = useRapport({ clock })

/** The labels of a page's times. */
const labels = (text: string) =>
  [...text.matchAll(/<button name="slot" value="[^"]+">([^<]+)<\/button>/g)].map(([, label]) => label)
function when(text: string): string {
  const [part = ''] = /<p class="when">[\s\S]*?<\/p>|<dt>When<[\s\S]*?<\/dd>/.exec(text) ?? []
  return unescaped(part.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')).trim()
}

test("every time that is offered is reached by the page's own links, in any zone and at any end of a month", async () => {
  const zones = [
    'Europe/Berlin',
    'Asia/Tokyo',
    'America/Los_Angeles',
    'Pacific/Kiritimati',
    'Pacific/Pago_Pago',
  ]
  const cases = fc.record({
    own: fc.constantFrom(...zones),
    zone: fc.constantFrom(...zones),
    horizon_days: fc.integer({ min: 1, max: 62 }),
    hours: fc.constantFrom('09:00-23:00', '00:00-24:00', '20:00-24:00'),
  })
  type Case = { own: string; zone: string; horizon_days: number; hours: string }
  const reached = async ({ own, zone, horizon_days, hours }: Case) => {
    const rules = { availability: everyDay(span(hours)), duration_minutes: 240, minimum_notice_minutes: 0 }
    const { path, get } = await openPage(rapport, { ...rules, time_zone: own, horizon_days })
    const offered: string[] = []
    for (const from of [0, 40]) {
      const [start, end] = [from, from + 40].map((days) => new Date(clock.now() + days * day).toISOString())
      const { data } = JSON.parse((await get(`${path}/slots?from=${start}&to=${end}`)).text)
      offered.push(...data.map(({ start_at }: Made) => start_at))
    }
    const found = new Set<string>()
    const to_do = new Set([`${path}?zone=${encodeURIComponent(zone)}`])
    for (const address of to_do) {
      const { text } = await get(address)
      for (const time of timesOf(text)) found.add(time)
      for (const [, link] of text.matchAll(/data-swap(?:="day")? href="([^"]+)"/g))
        to_do.add(unescaped(String(link)))
    }
    assert.deepEqual([...found].sort(), offered)
  }
  // The month of the last day differs from that of the reader's last day.
  for (const horizon_days of [29, 30])
    for (const zone of zones)
      await reached({ own: 'Europe/Berlin', zone, horizon_days, hours: '09:00-23:00' })
  await fc.assert(fc.asyncProperty(cases, reached), { numRuns: runs(8) })
})

test('a time that the clock shows twice tells its offset, also where the other one is not in the list', async () => {
  const { path, get, post } = await openPage(rapport, {
    time_zone: 'America/New_York',
    horizon_days: 730,
    availability: {},
    date_overrides: { '2027-11-07': span('00:00-04:00') },
  })
  const slot = '2027-11-07T05:30:00.000Z'
  assert.match(when((await get(`${path}?slot=${slot}`)).text), /01:30 GMT-4 – 01:00 GMT-5 America\/New York$/)
  assert.match(
    when((await get(`${path}?slot=${slot}&zone=UTC`)).text),
    /05:30–06:00 UTC \(GMT\+0\) 01:30 GMT-4 – 01:00 GMT-5 America\/New York/,
  )
  assert.match(
    when((await get(`${path}?slot=2027-11-07T05:00:00.000Z&zone=UTC`)).text),
    /01:00–01:30 America\/New York \(GMT-4\)/,
  )
  const booked = await post(path, { ...ana, slot })
  assert.match(when((await get(booked.location)).text), /01:30 GMT-4 – 01:00 GMT-5/)
  await post(path, { ...ana, slot: '2027-11-07T05:00:00.000Z' })
  assert.deepEqual(labels((await get(`${path}?day=2027-11-07`)).text), [
    '00:00',
    '00:30',
    '01:00 GMT-5',
    '01:30 GMT-5',
    '02:00',
    '02:30',
    '03:00',
    '03:30',
  ])
  // Times that are offered in place of a taken one show it, too.
  const taken = await post(path, { ...ana, slot })
  assert.match(taken.text, /7 November, 01:00 GMT-5</)
})

test('dates and times are American where the browser prefers it, and else have 24 hours', async () => {
  const { path, get } = await openPage(rapport, { availability: everyDay(span('14:00-15:00')) })
  for (const [languages, label] of [
    ['en-US,en;q=0.9', '2:00 PM'],
    ['de;q=0.5,en-US;q=0.8', '2:00 PM'],
    ['de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', '14:00'],
    ['en-US;q=0.3,fr-FR', '14:00'],
    ['en-US;q=0,en-GB', '14:00'],
    ['en', '14:00'],
    ['*', '14:00'],
    [';;,,=', '14:00'],
  ] as const) {
    const [first = ''] = labels((await get(path, { 'accept-language': languages })).text)
    assert.equal(first.replaceAll(/\s/g, ' '), label, languages)
  }
})

test('with ten thousand appointments ahead a page looks no further for free times, says so, and leads on', async (t) => {
  const { page, path, get, post } = await openPage(rapport, {
    time_zone: 'UTC',
    duration_minutes: 5,
    horizon_days: 730,
    minimum_notice_minutes: 0,
    availability: everyDay(whole_day),
  })
  const database = await openScratch(rapport.data_dir)
  t.after(() => database.close())
  const five = 300_000
  const start = Math.ceil(clock.now() / five) * five
  const now = new Date(clock.now()).toISOString()
  const count = 40_000
  for (let i = 0; i < count; i += 1000) {
    const rows = Array.from({ length: 1000 }, (_, j) => ({
      workspace_id: 1,
      title: 'x',
      type: null,
      contact_id: null,
      booking_page_id: page.id,
      start_at: new Date(start + (i + j) * five).toISOString(),
      location: null,
      notes: null,
      tags: '[]',
      host_ids: '[]',
      custom_fields: '{}',
      end_at: new Date(start + (i + j + 1) * five).toISOString(),
      status: 'scheduled' as const,
      link_hash: null,
      created_at: now,
      updated_at: now,
    }))
    await transaction(database.db, (tx) => tx.insertInto('appointments').values(rows).execute())
  }
  const first_free = new Date(start + count * five).toISOString()
  let address = path
  const steps: string[] = []
  for (;;) {
    const { text } = await get(address)
    const [, next, words] = /href="([^"]+)">(Look further ahead|Show the next free times)</.exec(text) ?? []
    if (!next) {
      assert.equal(timesOf(text)[0], first_free)
      break
    }
    steps.push(String(words))
    address = unescaped(next)
  }
  assert.deepEqual(steps, ['Look further ahead', 'Show the next free times'])
  const taken = await post(path, { ...ana, slot: new Date(start).toISOString() })
  assert.equal(taken.status, 409)
  assert.match(taken.text, /Look among all free times/)
  // A month that is asked for is shown without a search.
  assert.equal(timesOf((await get(`${path}?day=${first_free.slice(0, 10)}`)).text)[0], first_free)
})
