import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ana, fieldOf, openPage, timesOf, unescaped } from './booking.ts'
import { unset } from './envelope.ts'
import { turnableClock, useRapport } from './harness.ts'
import { startReceiver } from './receiver.ts'
import { useFor } from './use.ts'
import { register } from './webhooks.ts'

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

test('a booking makes the contact and the appointment, in one change, by a visitor; both events arrive', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const { page, path, get, post } = await openPage(rapport, { title: 'Intro call' })
  const events = ['contact.created', 'appointment.created']
  await register(rapport.call, { url: receiver.url, events })
  const form = await get(`${path}?slot=${monday}`)
  const booked = await post(path, {
    ...ana,
    email: 'Event@acme.example',
    slot: fieldOf(form.text, 'slot'),
    zone: 'Asia/Tokyo',
    token: fieldOf(form.text, 'token'),
  })
  assert.equal(booked.status, 303)
  assert.match(booked.location, new RegExp(`^${path}/a/[\\w-]{43}\\?zone=Asia%2FTokyo$`))
  const [appointment, ...more] = await appointmentsOf(page)
  assert.equal(more.length, 0)
  const { id, contact_id, created_at, updated_at, ...rest } = appointment
  const visitor = { kind: 'visitor', id: null, name: null }
  assert.deepEqual(rest, {
    title: 'Intro call',
    type: 'booking',
    start_at: monday,
    end_at: '2026-11-23T08:30:00.000Z',
    booking_page_id: page.id,
    location: null,
    notes: ana.message,
    status: 'scheduled',
    cancel_reason: null,
    ...unset,
    created_by: visitor,
    updated_by: visitor,
  })
  const contact = await data(`/contacts/${contact_id}`)
  const { first_name, last_name, email, phone, source, stage } = contact
  assert.deepEqual(
    { first_name, last_name, email, phone, source, stage },
    {
      first_name: 'Ana',
      last_name: 'Ruiz',
      email: 'Event@acme.example',
      phone: ana.phone,
      source: 'booking',
      stage: null,
    },
  )
  const received = await receiver.waitFor(2)
  const bodies = received.map(({ body }) => JSON.parse(body))
  assert.deepEqual(bodies.map(({ event }) => event).sort(), events.toSorted())
  const told = bodies.find(({ event }) => event === 'appointment.created').data
  assert.deepEqual(told, {
    id,
    title: 'Intro call',
    type: 'booking',
    start_at: monday,
    end_at: rest.end_at,
    contact_id,
    booking_page_id: page.id,
  })
  for (const [kind, record_id] of [
    ['contacts', contact_id],
    ['appointments', id],
  ]) {
    const [entry] = await data(`/audit-log?kind=${kind}&record_id=${record_id}`)
    assert.deepEqual([entry.action, entry.actor.kind, entry.actor.id], ['created', 'visitor', null])
  }
})

test('a contact that has the e-mail is found, whatever the case, and stays as it is; what is new is in the notes', async () => {
  const { path, post, page } = await openPage(rapport)
  const make = (fields: object) => rapport.call('POST', '/api/v1/contacts', { last_name: 'Kim', ...fields })
  const gone = (await make({ first_name: 'Gone', email: 'kim@known.example' })).body.data
  await rapport.call('DELETE', `/api/v1/contacts/${gone.id}`)
  const known = (await make({ first_name: 'Ada', email: 'Kim@Known.example', phone: '1' })).body.data
  await make({ first_name: 'Later', email: 'kim@known.example' })
  const other = { ...ana, email: 'kIM@known.EXAMPLE', first_name: 'Adele', last_name: 'Kim', phone: '2' }
  assert.equal((await post(path, { ...other, slot: monday })).status, 303)
  const same = { ...other, first_name: 'Ada', phone: '1', message: '' }
  assert.equal((await post(path, { ...same, slot: '2026-11-23T09:00:00.000Z' })).status, 303)
  const [second, first] = await appointmentsOf(page)
  assert.deepEqual([first.contact_id, second.contact_id], [known.id, known.id])
  assert.equal(first.notes, `${ana.message}\n\nName: Adele Kim\nPhone: 2`)
  assert.equal(second.notes, null)
  assert.deepEqual(await data(`/contacts/${known.id}`), known)
})

test('the same form sent twice books once, also at the same moment; with another time it books another', async () => {
  const { path, get, post, page } = await openPage(rapport)
  const token = fieldOf((await get(`${path}?slot=${monday}`)).text, 'token')
  const form = { ...ana, email: 'twice@acme.example', slot: monday, token }
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(path, form)))
  answers.push(await post(path, form))
  assert.deepEqual([...new Set(answers.map(({ status, location }) => `${status} ${location}`))].length, 1)
  assert.equal(answers[0]?.status, 303)
  assert.equal((await appointmentsOf(page)).length, 1)
  const other = await post(path, { ...form, slot: '2026-11-23T10:00:00.000Z' })
  assert.equal(other.status, 303)
  assert.notEqual(other.location, answers[0]?.location)
  assert.equal((await appointmentsOf(page)).length, 2)
})

test('a taken time answers 409 with the next free ones and what was typed; one of them can be booked', async () => {
  const { path, post, get, page } = await openPage(rapport, { buffer_minutes: 30 })
  assert.equal((await post(path, { ...ana, slot: monday })).status, 303)
  const typed = { ...ana, email: 'late@acme.example', first_name: 'Bo', slot: monday }
  const late = await post(path, typed)
  assert.equal(late.status, 409)
  assert.match(late.text, /This time is no longer free/)
  for (const name of ['first_name', 'last_name', 'email', 'phone'] as const)
    assert.equal(fieldOf(late.text, name), typed[name])
  assert.match(late.text, /We are twelve people\.<\/textarea>/)
  const [next = ''] = timesOf(late.text)
  assert.equal(next, '2026-11-23T09:00:00.000Z')
  const again = await post(path, { ...typed, slot: next, token: fieldOf(late.text, 'token') })
  assert.equal(again.status, 303)
  assert.equal((await appointmentsOf(page)).length, 2)
  // Its link in somebody's history says so too.
  assert.match(
    (await get(`${path}?slot=${monday}`)).text,
    /This time is no longer free\. Choose another one\./,
  )
})

test('a time that is no longer offered is not called taken, and a changed length is shown first', async () => {
  const { path, post, get, page } = await openPage(rapport)
  const change = (fields: object) => rapport.call('PUT', `/api/v1/booking-pages/${page.id}`, fields)
  const form = await get(`${path}?slot=${monday}`)
  const sent = {
    ...ana,
    slot: monday,
    duration: fieldOf(form.text, 'duration'),
    token: fieldOf(form.text, 'token'),
  }
  assert.equal(sent.duration, '30')
  await change({ minimum_notice_minutes: 60 * 24 * 7 })
  const late = await post(path, sent)
  assert.equal(late.status, 409)
  assert.match(late.text, /<h2>This time is no longer offered<\/h2>/)
  assert.doesNotMatch(late.text, /Somebody/)
  assert.equal(timesOf(late.text).length, 6)

  await change({ minimum_notice_minutes: 0, duration_minutes: 120 })
  const told = await post(path, sent)
  assert.equal(told.status, 409)
  assert.match(told.text, /<h2>The length has changed<\/h2>\s*<p>It takes 2 hours now/)
  assert.match(told.text, /09:00–11:00/)
  assert.equal(fieldOf(told.text, 'first_name'), 'Ana')
  assert.equal((await appointmentsOf(page)).length, 0)
  const again = { ...sent, duration: fieldOf(told.text, 'duration'), slot: fieldOf(told.text, 'slot') }
  assert.equal((await post(path, again)).status, 303)
  assert.equal((await appointmentsOf(page))[0].end_at, '2026-11-23T10:00:00.000Z')
})

test('all problems of a form are shown at once, at the fields, and nothing is booked', async () => {
  const { path, post, page } = await openPage(rapport)
  const typed = {
    first_name: ' ',
    last_name: '',
    email: 'no address',
    phone: '1'.repeat(65),
    message: 'x'.repeat(2001),
  }
  const answer = await post(path, { ...typed, slot: monday, zone: 'Nowhere/At_All', token: 'short' })
  assert.equal(answer.status, 422)
  assert.match(answer.text, /role="alert" tabindex="-1" autofocus/)
  assert.deepEqual([...answer.text.matchAll(/<li><a href="#(\w+)">/g)].map(([, name]) => name).sort(), [
    'email',
    'first_name',
    'last_name',
    'message',
    'phone',
  ])
  assert.equal(fieldOf(answer.text, 'email'), 'no address')
  assert.equal(fieldOf(answer.text, 'slot'), monday)
  for (const slot of [
    '',
    'tomorrow',
    '2026-11-23T08:00:01Z',
    '1900-01-01T00:00:00Z',
    '9999-12-31T00:00:00Z',
  ]) {
    const wrong = await post(path, { ...ana, slot })
    assert.ok([409, 422].includes(wrong.status), slot)
    assert.equal(timesOf(wrong.text).length, 6, slot)
  }
  const bot = await post(path, { ...ana, slot: monday, fax: 'buy' })
  assert.equal(bot.status, 422)
  assert.equal((await post(path, { ...ana, slot: monday, first_name: 'a\0b' })).status, 422)
  // Whatever a field is called.
  const odd = await post(path, { ...ana, slot: monday, constructor: 'a\0b', ['__proto__']: 'a\0b' })
  assert.equal(odd.status, 422)
  assert.doesNotMatch(odd.text, /native code/)
  const type = 'application/x-www-form-urlencoded'
  const form = String(new URLSearchParams({ ...ana, slot: monday }))
  for (const bytes of [
    form.replace('Ana', '%FF'),
    form.replace('Ana', '%ED%A0%80'),
    Buffer.from(form.replace('Ana', 'é'), 'latin1'),
  ]) {
    const answer = await fetch(rapport.url + path, {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': type },
    })
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /<h1>This request is not valid<\/h1>/)
  }
  assert.equal((await appointmentsOf(page)).length, 0)
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
