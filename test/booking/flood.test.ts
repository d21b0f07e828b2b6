// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subscriberOf } from '../../src/http/client-address.ts'
import { type Answer, ana, fieldOf, type Made, makePage, timesOf, visitor } from '../booking.ts'
import { readStored } from '../database.ts'
import { problems } from '../envelope.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { until } from '../webhooks.ts'

// One visitor cannot book a whole calendar: limits of a page by e-mail, by address and in total.

const clock = turnableClock()
const minute_ms = 60_000
const hour_ms = 60 * minute_ms
const removal = { first_ms: 50, every_ms: 50 }
const rapport = useRapport({ clock, env: { TRUSTED_PROXIES: '127.0.0.0/8' }, removal })

let slugs = 0
const defaults = { open_bookings_per_email: 3, bookings_per_address_per_day: 10, bookings_per_hour: 30 }
const page = (fields: object = {}): Promise<Made> =>
  makePage(rapport, {
    slug: `flood-${++slugs}`,
    minimum_notice_minutes: 0,
    duration_minutes: 15,
    ...defaults,
    ...fields,
  })

let people = 0
const somebody = () => `person${++people}@example.com`
let networks = 0
const somewhere = () => `198.51.${++networks >> 8}.${networks & 255}`

/** Books the next free time of a page. */
async function book(slug: string, email: string, address: string, zone = 'UTC'): Promise<Answer> {
  const { get, post } = visitor(rapport.url, { 'x-forwarded-for': address })
  const free = JSON.parse((await get(`/book/${slug}/slots`)).text).data as { start_at: string }[]
  const slot = free[0]?.start_at ?? ''
  const token = fieldOf((await get(`/book/${slug}?slot=${slot}`)).text, 'token')
  return post(`/book/${slug}`, { ...ana, email, slot, token, zone })
}

function refusedFor(answer: Answer, least_s: number, most_s: number) {
  assert.equal(answer.status, 429, answer.text)
  const seconds = Number(answer.headers.get('retry-after'))
  assert.ok(seconds >= least_s && seconds <= most_s, `${seconds} s`)
  assert.match(answer.text, /<h1>Not booked: too many bookings<\/h1>/)
  assert.match(answer.text, /Try again in \d+ (hour|minute)/)
  assert.equal(timesOf(answer.text).length, 0)
}

test('one e-mail has at most 3 open bookings of a page, however it is spelt; others book on', async () => {
  const { slug, id } = await page()
  const spellings = ['José@Example.com', 'jose\u0301@example.com', 'JOSÉ@EXAMPLE.COM']
  const booked = []
  for (const email of spellings) booked.push(await book(slug, email, somewhere()))
  assert.deepEqual(
    booked.map(({ status }) => status),
    [303, 303, 303],
  )
  refusedFor(await book(slug, 'jos\u00e9@example.com', somewhere()), 3600, 86_400)
  assert.equal((await book(slug, somebody(), somewhere())).status, 303)
  // Each page has its own count.
  assert.equal((await book((await page()).slug, spellings[0] as string, somewhere())).status, 303)
  // A cancelled booking is not open.
  const link = visitor(rapport.url)
  assert.equal((await link.post(`${booked[0]?.location.split('?')[0]}/cancel`, {})).status, 303)
  assert.equal((await book(slug, 'josé@example.com', somewhere())).status, 303)
  const { data } = (await rapport.call('GET', `/api/v1/appointments?booking_page_id=${id}&status=scheduled`))
    .body
  assert.equal(data.length, 4)
})

test('an open booking of an e-mail ends at its start', async () => {
  const { slug } = await page({ open_bookings_per_email: 1 })
  const email = somebody()
  const first = await book(slug, email, somewhere())
  assert.equal(first.status, 303)
  refusedFor(await book(slug, email, somewhere()), 3600, 86_400)
  const start = (await rapport.call('GET', '/api/v1/appointments?per_page=1')).body.data[0].start_at
  clock.advance(Date.parse(start) - clock.now())
  assert.equal((await book(slug, email, somewhere())).status, 303)
})

test('one address books at most 10 times a day on a page, with any e-mails; the answer says when to try again', async () => {
  const { slug } = await page()
  const address = somewhere()
  const statuses = []
  for (let n = 0; n < 10; n++) {
    statuses.push((await book(slug, somebody(), address)).status)
    clock.advance(minute_ms)
  }
  assert.deepEqual(statuses, Array(10).fill(303))
  refusedFor(await book(slug, somebody(), address), 86_400 - 601, 86_400 - 599)
  assert.equal((await book(slug, somebody(), somewhere())).status, 303)
  assert.equal((await book((await page()).slug, somebody(), address)).status, 303)
  // One subscriber's network is one address.
  const small = (await page({ bookings_per_address_per_day: 1 })).slug
  assert.equal((await book(small, somebody(), '2001:db8:77:1::1')).status, 303)
  refusedFor(await book(small, somebody(), '2001:db8:77:2::9'), 80_000, 86_400)
  clock.advance(24 * hour_ms)
  assert.equal((await book(slug, somebody(), address)).status, 303)
})

test('a page takes at most 30 bookings an hour in all, then says when to come back', async () => {
  const { slug } = await page()
  for (let n = 0; n < 30; n++) assert.equal((await book(slug, somebody(), somewhere())).status, 303, `${n}`)
  refusedFor(await book(slug, somebody(), somewhere()), 3590, 3600)
  clock.advance(hour_ms)
  assert.equal((await book(slug, somebody(), somewhere())).status, 303)
})

test('of 20 bookings at once at the last place of a limit exactly one passes', async () => {
  const { slug } = await page({ bookings_per_hour: 1 })
  const { get, post } = visitor(rapport.url)
  const free = JSON.parse((await get(`/book/${slug}/slots`)).text).data as { start_at: string }[]
  const forms = await Promise.all(
    free.slice(0, 20).map(async ({ start_at: slot }) => {
      const token = fieldOf((await get(`/book/${slug}?slot=${slot}`)).text, 'token')
      return { ...ana, email: somebody(), slot, token }
    }),
  )
  const answers = await Promise.all(forms.map((form) => post(`/book/${slug}`, form)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, ...Array(19).fill(429)])
  // A form that was sent twice leads to what it has booked, past every limit.
  const first = forms[answers.findIndex(({ status }) => status === 303)]
  assert.equal((await post(`/book/${slug}`, first as never)).status, 303)
})

test('an address is kept as a keyed hash, for a day and no longer', async (t) => {
  const stored = await readStored(rapport.data_dir)
  t.after(() => stored.close())
  const { slug, id } = await page()
  const address = somewhere()
  await book(slug, somebody(), address)
  const rows = () => stored.rows('SELECT * FROM booking_visits WHERE booking_page_id = ?', id)
  const [row] = await rows()
  assert.match(String(row?.address_hash), /^[\w-]{43}$/)
  assert.ok(!JSON.stringify(row).includes(subscriberOf(address)))
  // The same address on another page has another hash.
  const other = await page()
  await book(other.slug, somebody(), address)
  const [elsewhere] = await stored.rows('SELECT * FROM booking_visits WHERE booking_page_id = ?', other.id)
  assert.notEqual(elsewhere?.address_hash, row?.address_hash)
  clock.advance(24 * hour_ms)
  await until(rows, (found) => found.length === 0)
})

test('the limits are fields of the page, with their bounds and defaults', async () => {
  const reply = await rapport.call('POST', '/api/v1/booking-pages', {
    slug: 'limits-as-fields',
    title: 'Demo',
    time_zone: 'UTC',
  })
  const { id, open_bookings_per_email, bookings_per_address_per_day, bookings_per_hour, approval } =
    reply.body.data
  assert.deepEqual(
    [open_bookings_per_email, bookings_per_address_per_day, bookings_per_hour, approval],
    [3, 10, 30, false],
  )
  const path = `/api/v1/booking-pages/${id}`
  const changed = {
    open_bookings_per_email: 5,
    bookings_per_address_per_day: 1,
    bookings_per_hour: 100,
    approval: true,
  }
  const after = (await rapport.call('PUT', path, changed)).body.data
  for (const [name, value] of Object.entries(changed)) assert.equal(after[name], value, name)
  const none = {
    open_bookings_per_email: 0,
    bookings_per_address_per_day: 10_001,
    bookings_per_hour: '5',
    approval: 'yes',
  }
  assert.deepEqual(problems(await rapport.call('PUT', path, none)), {
    open_bookings_per_email: 'out_of_range',
    bookings_per_address_per_day: 'out_of_range',
    bookings_per_hour: 'invalid_type',
    approval: 'invalid_type',
  })
  const defaults_again = Object.fromEntries(Object.keys(changed).map((name) => [name, null]))
  const last = (await rapport.call('PUT', path, defaults_again)).body.data
  assert.deepEqual([last.bookings_per_hour, last.approval], [30, false])
})
