import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ana, type Made, makePage, timesOf, visitor } from './booking.ts'
import { client, type Rapport, startRapport, turnableClock } from './harness.ts'
import { scratchFolder, serveProcess } from './process.ts'
import { startReceiver } from './receiver.ts'
import { register, until } from './webhooks.ts'

const clock = turnableClock()
let rapport: Rapport
let pages = 0
before(async () => {
  rapport = await startRapport({ clock })
})
after(() => rapport.close())

const hour = 3_600_000
const inHours = (hours: number) => new Date(Math.ceil(clock.now() / hour) * hour + hours * hour).toISOString()

/** An appointment that a visitor has booked on a page that is always open, with its private link. */
async function booked(fields: object = {}) {
  const slug = `link-${++pages}`
  const whole_day = [{ from: '00:00', to: '24:00' }]
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  const availability = Object.fromEntries(days.map((day) => [day, whole_day]))
  const page = await makePage(rapport, {
    slug,
    time_zone: 'UTC',
    availability,
    minimum_notice_minutes: 0,
    ...fields,
  })
  const { get, post } = visitor(rapport.url)
  const slot = inHours(24)
  const { location } = await post(`/book/${slug}`, { ...ana, slot })
  const link = location.split('?')[0] as string
  const read = async (): Promise<Made> =>
    (await rapport.call('GET', `/api/v1/appointments?booking_page_id=${page.id}`)).body.data[0]
  return { page, link, slot, get, post, read }
}

/** The properties of a calendar file's event, read as RFC 5545 tells. */
function parseCalendar(text: string): Record<string, string> {
  assert.ok(text.endsWith('\r\n'))
  for (const line of text.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75, line)
  assert.doesNotMatch(text.replaceAll('\r\n', ''), /[\r\n]/)
  const lines = text.replaceAll('\r\n ', '').split('\r\n').slice(0, -1)
  assert.deepEqual([lines[0], lines.at(-1)], ['BEGIN:VCALENDAR', 'END:VCALENDAR'])
  const event = lines.slice(lines.indexOf('BEGIN:VEVENT') + 1, lines.indexOf('END:VEVENT'))
  const plain = (value: string) =>
    value.replaceAll(/\\([\\;,nN])/g, (_, character) => (/n/i.test(character) ? '\n' : character))
  return Object.fromEntries(
    event.map((line) => [line.slice(0, line.indexOf(':')), plain(line.slice(line.indexOf(':') + 1))]),
  )
}

test('the private link shows the appointment, is found by nobody and kept by nobody; of its token only the hash is stored', async () => {
  const { link, get, read } = await booked()
  const page = await get(link)
  assert.equal(page.status, 200)
  assert.match(page.text, /<h1>You are booked<\/h1>/)
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(page.headers.get('x-robots-tag'), 'noindex')
  const token = link.split('/').at(-1) as string
  const { id } = await read()
  const shown = await rapport.call('GET', `/api/v1/appointments/${id}`)
  const log = await rapport.call('GET', '/api/v1/audit-log?per_page=100')
  assert.ok(!shown.text.includes(token) && !log.text.includes(token) && !shown.text.includes('link_hash'))
  assert.equal((await get(`${link.slice(0, -1)}${link.endsWith('A') ? 'B' : 'A'}`)).status, 404)
})

test("a visitor's page shows what was agreed, and neither the notes nor the contact", async () => {
  const { link, get, read } = await booked()
  const { id, contact_id } = await read()
  await rapport.call('PUT', `/api/v1/appointments/${id}`, { notes: 'Difficult customer', location: 'Room 5' })
  await rapport.call('PUT', `/api/v1/contacts/${contact_id}`, { phone: '+99 1234' })
  const { text } = await get(link)
  assert.match(text, /Room 5/)
  assert.doesNotMatch(text, /Difficult|1234|acme\.example/)
})

test('the calendar file is read back as the appointment; a move and a cancellation replace it', async () => {
  const title = 'Demo; with, commas \\ and a very long title — äöü 日本語 '.repeat(3).trim()
  const { link, get, post, slot } = await booked({ title })
  const load = async () => {
    const answer = await get(`${link}/calendar.ics`)
    assert.equal(answer.headers.get('content-type'), 'text/calendar; charset=utf-8')
    return parseCalendar(answer.text)
  }
  const utc = (iso: string) => iso.replaceAll(/[-:]|\.000/g, '')
  const first = await load()
  assert.equal(first.SUMMARY, title)
  assert.deepEqual([first.DTSTART, first.STATUS, first.SEQUENCE], [utc(slot), 'CONFIRMED', '0'])
  assert.equal(first.URL, rapport.url + link)
  assert.equal(first.DESCRIPTION, `Cancel or move: ${rapport.url}${link}`)
  clock.advance(1)
  const other = inHours(30)
  await post(`${link}/move`, { slot: other })
  const second = await load()
  assert.deepEqual([second.UID, second.DTSTART], [first.UID, utc(other)])
  clock.advance(5000)
  await post(`${link}/cancel`, {})
  const third = await load()
  assert.deepEqual([third.UID, third.STATUS], [first.UID, 'CANCELLED'])
  assert.ok(Number(second.SEQUENCE) > 0 && Number(third.SEQUENCE) > Number(second.SEQUENCE))
})

test('moving keeps the appointment and frees its old time; the event tells both; sent twice it is one move', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const { link, get, post, slot, read, page } = await booked()
  const before = await read()
  await register(rapport.call, { url: receiver.url, events: ['appointment.updated'] })
  const choose = await get(`${link}/move?day=${slot.slice(0, 10)}`)
  const times = timesOf(choose.text)
  assert.ok(!times.includes(slot))
  const [to = ''] = times.filter((time) => time > slot)
  const confirm = await get(`${link}/move?slot=${to}`)
  assert.match(confirm.text, /Move this appointment\?/)
  for (let i = 0; i < 2; i++) assert.equal((await post(`${link}/move`, { slot: to })).status, 303)
  const after = await read()
  assert.deepEqual([after.id, after.start_at], [before.id, to])
  const free = JSON.parse((await get(`/book/${page.slug}/slots`)).text).data.map(
    ({ start_at }: Made) => start_at,
  )
  assert.ok(free.includes(slot) && !free.includes(to))
  const [event] = (await receiver.waitFor(1)).map(({ body }) => JSON.parse(body))
  assert.deepEqual(event.changed_fields, ['start_at', 'end_at'])
  assert.equal(event.previous.start_at, slot)
  assert.equal(receiver.received.length, 1)
})

test('moving to a time that is taken, or to none, says so and offers the next ones', async () => {
  const { link, post, slot, page, read } = await booked()
  const taken = inHours(28)
  await post(`/book/${page.slug}`, { ...ana, slot: taken })
  for (const wanted of [taken, '', 'soon', '2020-01-01T00:00:00.000Z']) {
    const answer = await post(`${link}/move`, { slot: wanted })
    assert.equal(answer.status, 409, wanted)
    assert.equal(timesOf(answer.text).length, 6)
  }
  const starts = (await rapport.call('GET', `/api/v1/appointments?booking_page_id=${page.id}`)).body.data
  assert.deepEqual(starts.map(({ start_at }: Made) => start_at).sort(), [slot, taken])
  assert.ok(await read())
})

test('cancelling frees the time and tells the reason once; a cancelled one is neither moved nor cancelled again', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const { link, get, post, slot, read, page } = await booked()
  await register(rapport.call, {
    url: receiver.url,
    events: ['appointment.cancelled', 'appointment.updated'],
  })
  assert.match((await get(`${link}/cancel`)).text, /Cancel this appointment\?/)
  const long = await post(`${link}/cancel`, { reason: 'x'.repeat(256) })
  assert.equal(long.status, 422)
  assert.match(long.text, /Reason must have at most 255 characters/)
  for (const reason of ['We found <another> way', 'Again'])
    assert.equal((await post(`${link}/cancel`, { reason })).status, 303)
  const { status, cancel_reason } = await read()
  assert.deepEqual([status, cancel_reason], ['cancelled', 'We found <another> way'])
  assert.match((await get(link)).text, /This appointment is cancelled/)
  for (const answer of [
    await get(`${link}/cancel`),
    await get(`${link}/move`),
    await post(`${link}/move`, { slot: inHours(40) }),
  ]) {
    assert.equal(answer.status, 409)
    assert.match(answer.text, /It was cancelled before/)
  }
  const slots = JSON.parse((await get(`/book/${page.slug}/slots`)).text).data
  assert.ok(slots.some(({ start_at }: Made) => start_at === slot))
  await receiver.waitFor(1)
  assert.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).event),
    ['appointment.cancelled'],
  )
})

test('what has begun is over: it is neither moved nor cancelled', async () => {
  const { link, get, post, read } = await booked()
  clock.advance(25 * hour)
  assert.match((await get(link)).text, /This appointment is over/)
  for (const answer of [
    await get(`${link}/cancel`),
    await get(`${link}/move`),
    await post(`${link}/cancel`, {}),
    await post(`${link}/move`, { slot: inHours(3) }),
  ]) {
    assert.equal(answer.status, 409)
    assert.match(answer.text, /has begun/)
  }
  assert.equal((await read()).status, 'scheduled')
})

test('while a page takes no bookings, or under another address, its links still work: cancelling yes, moving no', async () => {
  const { link, get, post, page, read } = await booked()
  await rapport.call('PUT', `/api/v1/booking-pages/${page.id}`, { active: false, slug: `new-${page.slug}` })
  const shown = await get(link)
  assert.equal(shown.status, 200)
  assert.doesNotMatch(shown.text, />Move</)
  for (const answer of [await get(`${link}/move`), await post(`${link}/move`, { slot: inHours(48) })]) {
    assert.equal(answer.status, 409)
    assert.match(answer.text, /cannot be moved/)
  }
  await rapport.call('DELETE', `/api/v1/booking-pages/${page.id}`)
  assert.equal((await get(`${link}?zone=Asia/Tokyo`)).status, 200)
  assert.equal((await post(`${link}/cancel`, {})).status, 303)
  const { id } = (await rapport.call('GET', '/api/v1/appointments')).body.data[0]
  assert.equal((await rapport.call('GET', `/api/v1/appointments/${id}`)).body.data.status, 'cancelled')
  assert.equal(await read(), undefined)
  await rapport.call('DELETE', `/api/v1/appointments/${id}`)
  assert.equal((await get(link)).status, 404)
})

test('the log of requests has no address of a private link, also when every request is logged', async (t) => {
  const { output, stop } = await serveProcess(t, { DATA_DIR: scratchFolder(t), LOG_LEVEL: 'info' })
  await until(
    async () => output(),
    (text) => /serves/.test(text) && /crm_\w{43}/.test(text),
  )
  const [, url = ''] = /Rapport serves (\S+)/.exec(output()) ?? []
  const [key = ''] = /crm_\w+/.exec(output()) ?? []
  await makePage({ call: client(url, key) }, { minimum_notice_minutes: 0 })
  const { get, post } = visitor(url)
  const [slot = ''] = timesOf((await get('/book/demo')).text)
  const { location } = await post('/book/demo', { ...ana, slot })
  const link = location.split('?')[0] as string
  for (const part of ['', '/calendar.ics', '/cancel', '/move'])
    assert.equal((await get(link + part)).status, 200)
  assert.equal((await post(`${link}/cancel`, {})).status, 303)
  await stop()
  assert.match(output(), /\/book\/demo"/)
  assert.ok(!output().includes(link.split('/').at(-1) as string))
})
