import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ana, fieldOf, openPage, timesOf } from '../booking.ts'
import { unset } from '../envelope.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { startReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { register } from '../webhooks.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })

const data = async (path: string) => (await rapport.call('GET', `/api/v1${path}`)).body.data
const appointmentsOf = (page: { id: number }) => data(`/appointments?booking_page_id=${page.id}&per_page=100`)
const monday = '2026-11-23T08:00:00.000Z'

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
