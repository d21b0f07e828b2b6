// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ana, type Made, makePage, timesOf, visitor } from '../booking.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { runs } from '../quick.ts'
import { unlessBusy } from '../webhooks.ts'

const rapport = useRapport({ clock: turnableClock() })

const minute = 60_000
const guest = (i: number) => ({ ...ana, email: `guest-${i}@acme.example` })

async function scheduled(page: { id: number }): Promise<Made[]> {
  const query = `booking_page_id=${page.id}&status=scheduled&per_page=100`
  return (await rapport.call('GET', `/api/v1/appointments?${query}`)).body.data
}

test('of fifty concurrent bookings of one time, one is made, and forty-nine are offered the next times', async () => {
  const page = await makePage(rapport, { slug: 'race' })
  const { post } = visitor(rapport.url)
  const slot = '2026-11-23T09:00:00.000Z'
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => unlessBusy(() => post('/book/race', { ...guest(i), slot }))),
  )
  const booked = answers.filter(({ status }) => status === 303)
  const told = answers.filter(({ status }) => status === 409)
  assert.deepEqual([booked.length, told.length], [1, 49])
  for (const { text } of told) {
    assert.match(text, /This time is no longer free/)
    assert.deepEqual(timesOf(text).slice(0, 2), ['2026-11-23T09:30:00.000Z', '2026-11-23T10:00:00.000Z'])
  }
  const [appointment, ...more] = await scheduled(page)
  assert.deepEqual([appointment.start_at, more.length], [slot, 0])
  // Refused bookings left no rows.
  const contacts = await rapport.call('GET', '/api/v1/contacts?search=guest')
  assert.equal(contacts.body.meta.total, 1)
})

test('neighbouring times that are booked at once never come nearer than the buffer', async () => {
  const page = await makePage(rapport, { slug: 'buffer', buffer_minutes: 45 })
  const { get, post } = visitor(rapport.url)
  const slots = timesOf((await get('/book/buffer')).text)
  const answers = await Promise.all(
    slots.flatMap((slot, i) => [0, 1].map((j) => post('/book/buffer', { ...guest(100 + 2 * i + j), slot }))),
  )
  const appointments = (await scheduled(page)).toSorted((a, b) => (a.start_at < b.start_at ? -1 : 1))
  assert.equal(answers.filter(({ status }) => status === 303).length, appointments.length)
  assert.ok(appointments.length >= 4)
  for (const [i, { start_at }] of appointments.entries())
    if (i > 0)
      assert.ok(Date.parse(start_at) - Date.parse(appointments[i - 1].end_at) >= 45 * minute, start_at)
})

test('two who book on two pages at once with one new e-mail are one contact', async () => {
  const { post } = visitor(rapport.url)
  await makePage(rapport, { slug: 'one' })
  await makePage(rapport, { slug: 'two' })
  const { get } = visitor(rapport.url)
  const slots = timesOf((await get('/book/one')).text).slice(0, 8)
  for (const [i, slot] of slots.entries()) {
    const email = `same-${i}@acme.example`
    const other_case = { ...ana, email: email.toUpperCase() }
    const answers = await Promise.all([
      post('/book/one', { ...ana, email, slot }),
      post('/book/two', { ...other_case, slot }),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [303, 303],
    )
    assert.equal((await rapport.call('GET', `/api/v1/contacts?search=${email}`)).body.meta.total, 1, email)
  }
})

test('a contact that goes to the trash while its owner books is not booked for: the next live one is, or a new one', async () => {
  const page = await makePage(rapport, { slug: 'leaving' })
  const { get, post } = visitor(rapport.url)
  const slots = timesOf((await get('/book/leaving')).text).slice(0, 8)
  for (const [i, slot] of slots.entries()) {
    const email = `leaving-${i}@acme.example`
    const make = async () =>
      (await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz', email })).body
        .data.id
    const [first, second] = [await make(), await make()]
    const [booked] = await Promise.all([
      post('/book/leaving', { ...ana, email, slot }),
      rapport.call('DELETE', `/api/v1/contacts/${first}`),
    ])
    assert.equal(booked.status, 303)
    const appointment = (await scheduled(page)).find(({ start_at }) => start_at === slot)
    // Deleted after the booking, it reads null.
    assert.ok([null, second].includes(appointment.contact_id), `${appointment.contact_id}`)
    assert.equal((await rapport.call('GET', `/api/v1/contacts?search=${email}`)).body.meta.total, 1)
  }
})

test('many that move to one time at once: one is there, the others stay where they were', async () => {
  const page = await makePage(rapport, { slug: 'moves' })
  const { get, post } = visitor(rapport.url)
  const slots = timesOf((await get('/book/moves')).text)
  const target = slots.at(-1) as string
  const booked = await Promise.all(
    slots.slice(0, 8).map((slot, i) => post('/book/moves', { ...guest(200 + i), slot })),
  )
  const moved = await Promise.all(
    booked.map(({ location }) => post(`${location.split('?')[0]}/move`, { slot: target })),
  )
  assert.deepEqual(moved.map(({ status }) => status).sort(), [303, ...Array(7).fill(409)])
  const starts = (await scheduled(page)).map(({ start_at }) => start_at)
  assert.equal(new Set(starts).size, 8)
  assert.equal(starts.filter((start) => start === target).length, 1)
})

test('every time that a page offers can be booked, is then no longer offered, and no two of them overlap', async () => {
  let number = 0
  const { get, post } = visitor(rapport.url)
  const rules = fc.record({
    duration_minutes: fc.constantFrom(30, 50, 90),
    buffer_minutes: fc.constantFrom(0, 10, 60),
    time_zone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
  })
  await fc.assert(
    fc.asyncProperty(rules, fc.array(fc.nat(1000), { minLength: 3, maxLength: 3 }), async (fields, picks) => {
      const slug = `any-${++number}`
      const page = await makePage(rapport, { slug, horizon_days: 3, ...fields })
      const offered = async (): Promise<string[]> =>
        JSON.parse((await get(`/book/${slug}/slots`)).text).data.map((slot: Made) => slot.start_at)
      for (const pick of picks) {
        const times = await offered()
        const slot = times[pick % times.length] as string
        const { status } = await post(`/book/${slug}`, { ...guest(300), slot })
        assert.equal(status, 303, slot)
        assert.ok(!(await offered()).includes(slot), slot)
      }
      const made = (await scheduled(page)).toSorted((a, b) => (a.start_at < b.start_at ? -1 : 1))
      assert.equal(made.length, picks.length)
      const gap = fields.buffer_minutes * minute
      for (const [i, { start_at }] of made.entries())
        if (i > 0) assert.ok(Date.parse(start_at) - Date.parse(made[i - 1].end_at) >= gap)
    }),
    { numRuns: runs(12) },
  )
})
