import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ana, fieldOf, openPage, timesOf, unescaped } from '../booking.ts'
import { turnableClock, useRapport } from '../harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })

const data = async (path: string) => (await rapport.call('GET', `/api/v1${path}`)).body.data
const appointmentsOf = (page: { id: number }) => data(`/appointments?booking_page_id=${page.id}&per_page=100`)
const monday = '2026-11-23T08:00:00.000Z'

test('a page shows the free times of its first free day in its own zone, says so, and is small', async () => {
  const { get, path } = await openPage(rapport, { title: 'Product demo', description: 'First.\n\nSecond.' })
  const page = await get(path)
  assert.equal(page.status, 200)
  assert.match(page.text, /^<!doctype html>\n<html lang="en">/)
  assert.match(page.text, /<title>Product demo<\/title>/)
  assert.match(page.text, /<p class="text" dir="auto">First.<\/p><p class="text" dir="auto">Second.<\/p>/)
  assert.match(
    page.text,
    /Times are shown in<\/label>\n<select[^>]*><option value="Europe\/Berlin" selected>Europe\/Berlin \(GMT\+1\)/,
  )
  assert.match(page.text, /<h2 id="day" tabindex="-1">Monday 23 November<\/h2>/)
  const times = timesOf(page.text)
  assert.deepEqual([times.length, times[0], times.at(-1)], [16, monday, '2026-11-23T15:30:00.000Z'])
  assert.match(page.text, new RegExp(`value="${monday}">09:00</button>`))
  assert.ok(Buffer.byteLength(page.text) < 30_000)
})

test('the zone that is asked for is the zone of every time, on the day that it is there', async () => {
  const { get, path } = await openPage(rapport)
  const tokyo = await get(`${path}?zone=Asia/Tokyo&day=2026-11-24`)
  assert.match(tokyo.text, /Tuesday 24 November/)
  // In Tokyo Monday's last times in Berlin are on Tuesday.
  assert.deepEqual(timesOf(tokyo.text).slice(0, 3), [
    '2026-11-23T15:00:00.000Z',
    '2026-11-23T15:30:00.000Z',
    '2026-11-24T08:00:00.000Z',
  ])
  assert.match(tokyo.text, /value="2026-11-23T15:00:00.000Z">00:00</)
  const american = await get(`${path}?zone=America/New_York`, { 'accept-language': 'en-US,en;q=0.9' })
  assert.match(american.text, new RegExp(`value="${monday}">3:00\\sAM</button>`))
  const details = await get(`${path}?slot=${monday}&zone=America/New_York`)
  assert.match(details.text, /03:00–03:30<\/strong> America\/New York \(GMT-5\)/)
  assert.match(details.text, /09:00–09:30 Europe\/Berlin/)
})

test('an hour that comes twice is shown with its offset, and each of its times can be booked', async () => {
  const open = [{ from: '01:00', to: '04:00' }]
  const { get, post, path, page } = await openPage(rapport, {
    time_zone: 'America/New_York',
    availability: {},
    horizon_days: 730,
    date_overrides: { '2027-11-07': open },
  })
  const day = await get(`${path}?day=2027-11-07`)
  assert.deepEqual(
    [...day.text.matchAll(/">([^<]+)<\/button>/g)]
      .map(([, label]) => label)
      .filter((label) => label !== 'Change'),
    ['01:00 GMT-4', '01:30 GMT-4', '01:00 GMT-5', '01:30 GMT-5', '02:00', '02:30', '03:00', '03:30'],
  )
  await post(path, { ...ana, slot: '2027-11-07T06:00:00.000Z' })
  assert.equal((await appointmentsOf(page))[0].start_at, '2027-11-07T06:00:00.000Z')
  const gap = await openPage(rapport, {
    availability: {},
    date_overrides: { '2027-03-28': open },
    horizon_days: 730,
  })
  assert.equal(timesOf((await gap.get(gap.path)).text).length, 4)
})

test('no text of anybody becomes HTML: title, description, slug, zone, typed fields, or an appointment', async () => {
  const evil = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;`
  const { path, get, post, page } = await openPage(rapport, {
    title: evil,
    description: `${evil}\n\n${evil}`,
  })
  const shown: string[] = []
  const look = async (answer: Promise<{ text: string; location: string }>) => {
    const { text, location } = await answer
    shown.push(text)
    return { text, location }
  }
  await look(get(path))
  await look(
    get(
      `${path}?zone=${encodeURIComponent(evil)}&day=${encodeURIComponent(evil)}&month=${encodeURIComponent(evil)}&slot=${encodeURIComponent(evil)}`,
    ),
  )
  await look(get(`${path}?slot=${monday}`))
  const typed = {
    first_name: evil,
    last_name: evil,
    email: evil,
    phone: evil,
    message: evil,
    zone: evil,
    token: evil,
  }
  const wrong = await look(post(path, { ...typed, slot: monday }))
  assert.equal(fieldOf(wrong.text, 'email'), evil)
  assert.ok(unescaped(wrong.text).includes(`${evil}</textarea>`))
  await look(post(path, { ...typed, slot: evil }))
  const booked = await post(path, { ...typed, email: 'evil@acme.example', phone: '', slot: monday })
  assert.equal(booked.status, 303)
  const link = booked.location.split('?')[0]
  const [appointment] = await appointmentsOf(page)
  await rapport.call('PUT', `/api/v1/appointments/${appointment.id}`, { location: evil })
  for (const part of ['', '/cancel', '/move', `/move?slot=2026-11-23T09:00:00.000Z`])
    await look(get(`${link}${part}`))
  await look(post(`${link}/cancel`, { reason: evil.repeat(9) }))
  await look(get(`/book/${encodeURIComponent(evil)}`))
  for (const text of shown) {
    assert.match(text, /<main/)
    assert.equal(text.match(/<script/g)?.length, 1)
    assert.doesNotMatch(text, /<img|onerror=(?!alert\(1\)&gt;)/)
  }
})

test('pages allow only this server and are not cached; their assets are cached without a limit', async () => {
  const { path, get } = await openPage(rapport)
  const page = await get(path)
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
  assert.match(policy, /frame-ancestors 'self'/)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.doesNotMatch(page.text, /style=|<style|onclick|https?:\/\//)
  const assets = [...page.text.matchAll(/(?:href|src)="(\/book\/_\/[^"]+)"/g)].map(([, asset]) =>
    String(asset),
  )
  assert.equal(assets.length, 2)
  for (const asset of assets) {
    const { status, headers, text } = await get(asset)
    assert.equal(status, 200)
    assert.match(headers.get('cache-control') ?? '', /immutable/)
    assert.match(headers.get('content-type') ?? '', /^text\/(css|javascript); charset=utf-8$/)
    assert.ok(text.length < 12_000)
  }
})

test('what is not there answers a page that says so, and the envelope to a program', async () => {
  const inactive = await openPage(rapport, { active: false })
  const { get, post, path } = inactive
  const not_there = [
    path,
    '/book/none',
    '/book',
    '/book/',
    '/book/_/none.css',
    `${path}/a/${'x'.repeat(43)}`,
    `${path}/a/x/move`,
    '/book/%00',
    `/book/${'x'.repeat(65)}`,
    `/book/${'x'.repeat(600)}`,
    '/book/a/b/c/d',
  ]
  for (const address of not_there) {
    const answer = await get(address)
    assert.equal(answer.status, 404, address)
    assert.match(answer.text, /<h1>There is nothing here<\/h1>/, address)
    const program = await get(address, { accept: 'application/json' })
    assert.equal(JSON.parse(program.text).error.code, 'not_found', address)
  }
  const no_url = await get('/book/%zz')
  assert.equal(no_url.status, 400)
  assert.match(no_url.text, /<h1>This request is not valid<\/h1>/)
  assert.match(no_url.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const no_url_json = await get('/book/%zz', { accept: 'application/json' })
  assert.equal(JSON.parse(no_url_json.text).error.code, 'bad_request')
  assert.equal(JSON.parse((await get('/api/%zz')).text).error.code, 'bad_request')
  assert.equal((await post(path, { ...ana, slot: monday })).status, 404)
  assert.equal(JSON.parse((await get(`${path}/slots`)).text).error.code, 'not_found')
  const open = await openPage(rapport)
  const send = (body: string, type: string) =>
    fetch(rapport.url + open.path, { method: 'POST', body, headers: { 'content-type': type } })
  assert.equal((await send('{}', 'application/json')).status, 415)
  const long = await send(`message=${'x'.repeat(70_000)}`, 'application/x-www-form-urlencoded')
  assert.equal(long.status, 413)
  assert.match(await long.text(), /<h1>This is too much text<\/h1>/)
  assert.equal((await fetch(rapport.url + open.path, { method: 'DELETE' })).status, 405)
  // The API itself still takes no forms.
  const api = await fetch(`${rapport.url}/api/v1/contacts`, {
    method: 'POST',
    body: new URLSearchParams(ana),
    headers: { authorization: `Bearer ${rapport.key}` },
  })
  assert.equal(api.status, 415)
})

test('a page without free times says so; a month without leads to the next one that has some', async () => {
  const never = await openPage(rapport, { availability: {} })
  assert.match((await never.get(never.path)).text, /No time is free at the moment/)
  const later = await openPage(rapport, {
    availability: {},
    horizon_days: 100,
    date_overrides: {
      '2026-12-31': [{ from: '10:00', to: '11:00' }],
      '2027-02-20': [{ from: '10:00', to: '10:30' }],
    },
  })
  assert.match((await later.get(later.path)).text, /Thursday 31 December/)
  const empty = await later.get(`${later.path}?month=2027-01`)
  assert.match(empty.text, /No free times in January 2027/)
  assert.match(empty.text, /month=2027-02[^>]*>Show the next free times/)
  for (const month of ['2026-10', '2030-01', '2027-13', 'x'])
    assert.match((await later.get(`${later.path}?month=${month}`)).text, /December 2026/, month)
})

test('programs read the free times as JSON, at most 62 days of them', async () => {
  const { get, path } = await openPage(rapport)
  const { status, text } = await get(`${path}/slots?from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z`)
  const { data: slots, meta } = JSON.parse(text)
  assert.equal(status, 200)
  assert.deepEqual(slots[0], { start_at: monday, end_at: '2026-11-23T08:30:00.000Z' })
  assert.deepEqual([slots.length, meta.total], [16, 16])
  const long = await get(`${path}/slots?from=2026-11-23T00:00:00Z&to=2027-11-24T00:00:00Z`)
  assert.equal(JSON.parse(long.text).error.fields[0].field, 'to')
  assert.equal((await get(`${path}/slots?form=1`)).status, 400)
})
