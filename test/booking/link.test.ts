import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ana, fieldOf, type Made, makePage, timesOf, visitor } from '../booking.ts'
import { client, startRapport, turnableClock, useRapport } from '../harness.ts'
import { firstKey, scratchFolder, serveProcess } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { register } from '../webhooks.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
let pages = 0

const hour = 3_600_000
const inHours = (hours: number) => new Date(Math.ceil(clock.now() / hour) * hour + hours * hour).toISOString()

/** An appointment that a visitor has booked on a page that is always open, with its private link. */
async function booked(fields: object = {}, at = rapport) {
  const slug = `link-${++pages}`
  const whole_day = [{ from: '00:00', to: '24:00' }]
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  const availability = Object.fromEntries(days.map((day) => [day, whole_day]))
  const page = await makePage(at, {
    slug,
    time_zone: 'UTC',
    availability,
    minimum_notice_minutes: 0,
    ...fields,
  })
  const { get, post } = visitor(at.url)
  const slot = inHours(24)
  const { location } = await post(`/book/${slug}`, { ...ana, slot })
  const link = location.split('?')[0] as string
  const read = async (): Promise<Made> =>
    (await at.call('GET', `/api/v1/appointments?booking_page_id=${page.id}`)).body.data[0]
  return { page, link, slot, get, post, read }
}

/** The properties of a calendar file's event, by RFC 5545. */
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

test('with PUBLIC_URL the link in the calendar file begins with it, whatever host was asked', async (t) => {
  const proxied = await startRapport({ clock, env: { PUBLIC_URL: 'https://crm.example.com' } })
  t.after(() => proxied.close())
  const { link, get } = await booked({}, proxied)
  const file = parseCalendar((await get(`${link}/calendar.ics`)).text)
  assert.equal(file.URL, `https://crm.example.com${link}`)
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
  // Several within a second too.
  let sequence = 0
  for (const other of [inHours(30), inHours(31), inHours(30)]) {
    await post(`${link}/move`, { slot: other })
    const moved = await load()
    assert.deepEqual([moved.UID, moved.DTSTART], [first.UID, utc(other)])
    assert.ok(Number(moved.SEQUENCE) > sequence)
    sequence = Number(moved.SEQUENCE)
  }
  clock.advance(5000)
  await post(`${link}/cancel`, {})
  const last = await load()
  assert.deepEqual([last.UID, last.STATUS], [first.UID, 'CANCELLED'])
  assert.ok(Number(last.SEQUENCE) > sequence)
})

test('the calendar file has an ORGANIZER for its METHOD, or no METHOD', async () => {
  const { link, get } = await booked()
  const { text } = await get(`${link}/calendar.ics`)
  assert.equal(/^METHOD:/m.test(text), /^ORGANIZER[:;]/m.test(text))
})

// node-ical 0.27 unescapes a text in these steps, each of them everywhere.
const inSteps = (text: string) =>
  text.replaceAll('\\,', ',').replaceAll('\\;', ';').replaceAll(/\\n/gi, '\n').replaceAll('\\\\', '\\')

test('a title with a backslash before an n is read alike by programs that unescape at once and in steps', async () => {
  for (const title of ['C:\\new\\North', 'a\\n', '\\\\n; \\,N', 'ends with \\']) {
    const { link, get } = await booked({ title })
    const { text } = await get(`${link}/calendar.ics`)
    const [, escaped = ''] = /^SUMMARY:(.*)\r$/m.exec(text.replaceAll('\r\n ', '')) ?? []
    // An invisible character that divides no word.
    const shown = (read: string) => read.replaceAll('\u2060', '')
    assert.equal(shown(parseCalendar(text).SUMMARY ?? ''), title)
    assert.equal(shown(inSteps(escaped)), title)
  }
})

test('moving keeps the appointment and frees its old time; the event tells both; sent twice it is one move', async (t) => {
  const receiver = await useFor(t, startReceiver())
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
  for (const [wanted, status, words] of [
    [taken, 409, /Somebody else has just taken it/],
    ['', 422, /<h2>Choose a time<\/h2>/],
    ['soon', 422, /<h2>Choose a time<\/h2>/],
    ['2020-01-01T00:00:00.000Z', 409, /This time is no longer offered/],
  ] as const) {
    const answer = await post(`${link}/move`, { slot: wanted })
    assert.equal(answer.status, status, wanted)
    assert.match(answer.text, words)
    assert.equal(/Somebody/.test(answer.text), wanted === taken)
    assert.equal(timesOf(answer.text).length, 6)
    assert.ok(!timesOf(answer.text).includes(slot))
  }
  const starts = (await rapport.call('GET', `/api/v1/appointments?booking_page_id=${page.id}`)).body.data
  assert.deepEqual(starts.map(({ start_at }: Made) => start_at).sort(), [slot, taken])
  assert.ok(await read())
})

test('cancelling frees the time and tells the reason once; a cancelled one is neither moved nor cancelled again', async (t) => {
  const receiver = await useFor(t, startReceiver())
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

test('what has begun is neither moved nor cancelled, and until its end its calendar file stays', async () => {
  const { link, get, post, read } = await booked({ duration_minutes: 60 })
  clock.advance(24 * hour + hour / 2)
  for (const [heading, words, file] of [
    [/<h1>This appointment has begun<\/h1>/, /has begun: it can/, true],
    [/<h1>This appointment is over<\/h1>/, /is over: it can/, false],
  ] as const) {
    const shown = await get(link)
    assert.match(shown.text, heading)
    assert.equal(shown.text.includes(`${link}/calendar.ics`), file)
    for (const answer of [
      await get(`${link}/cancel`),
      await get(`${link}/move`),
      await post(`${link}/cancel`, {}),
      await post(`${link}/move`, { slot: inHours(3) }),
      await post(`${link}/move`, {}),
    ]) {
      assert.equal(answer.status, 409)
      assert.match(answer.text, words)
    }
    clock.advance(hour)
  }
  assert.equal((await read()).status, 'scheduled')
})

test('of the address of a private link only a slug is taken, and what leads on has the slug of its page', async () => {
  const { link, get, post, page, read } = await booked()
  const token = link.split('/').at(-1)
  for (const slug of [
    '%E2%80%8Bdemo',
    'a%3Fb',
    '..%2F..%2Fapi',
    '%2F%2Fevil.example',
    '%E6%97%A5',
    'x'.repeat(65),
    'Demo',
    'x%0D%0AEND:VEVENT%0D%0ABEGIN:VEVENT',
  ])
    for (const part of ['', '/calendar.ics', '/cancel', '/move']) {
      const address = `/book/${slug}/a/${token}${part}`
      const answers = [await get(address), ...(/cancel|move/.test(part) ? [await post(address, {})] : [])]
      for (const { status, text } of answers) {
        assert.equal(status, 404, address)
        assert.match(text, /<h1>There is nothing here<\/h1>/, address)
      }
    }
  assert.equal((await read()).status, 'scheduled')
  const other = `/book/another/a/${token}`
  assert.match(
    (await get(`${other}/calendar.ics`)).text.replaceAll('\r\n ', ''),
    new RegExp(`\r\nURL:.*${link}\r\n`),
  )
  assert.ok((await get(other)).text.includes(`href="${link}/calendar.ics"`))
  const cancelled = await post(`${other}/cancel`, {})
  assert.equal(cancelled.location, `/book/${page.slug}/a/${token}?zone=UTC`)
})

test('a form whose appointment went to the trash books another one with another link, also when the first comes back', async () => {
  const { page, get, post } = await booked()
  const form = { ...ana, email: 'again@acme.example', slot: inHours(26), token: 'A'.repeat(43) }
  const ids: number[] = []
  const links: string[] = []
  const list = async (): Promise<Made[]> =>
    (await rapport.call('GET', `/api/v1/appointments?booking_page_id=${page.id}&sort=-id`)).body.data
  for (let i = 0; i < 3; i++) {
    const { location } = await post(`/book/${page.slug}`, form)
    assert.equal((await post(`/book/${page.slug}`, form)).location, location)
    links.push(location.split('?')[0] as string)
    const made = (await list()).find(({ id, start_at }) => start_at === form.slot && !ids.includes(id))
    ids.push(made.id)
    await rapport.call('DELETE', `/api/v1/appointments/${made.id}`)
  }
  assert.equal(new Set(links).size, 3)
  await rapport.call('POST', `/api/v1/appointments/${ids[1]}/restore`, {})
  assert.deepEqual(await Promise.all(links.map(async (link) => (await get(link)).status)), [404, 200, 404])
})

test('a move to a time of another length than was shown asks first, and is done when it is confirmed', async () => {
  const { link, get, post, page, read } = await booked()
  const to = inHours(40)
  const form = await get(`${link}/move?slot=${to}`)
  await rapport.call('PUT', `/api/v1/booking-pages/${page.id}`, { duration_minutes: 120 })
  const sent = { slot: to, duration: fieldOf(form.text, 'duration') }
  assert.equal(sent.duration, '30')
  const told = await post(`${link}/move`, sent)
  assert.equal(told.status, 409)
  assert.match(told.text, /<h2>The length has changed<\/h2>\s*<p>It takes 2 hours now/)
  assert.notEqual((await read()).start_at, to)
  const again = { slot: fieldOf(told.text, 'slot'), duration: fieldOf(told.text, 'duration') }
  assert.equal((await post(`${link}/move`, again)).status, 303)
  const { start_at, end_at } = await read()
  assert.deepEqual([start_at, Date.parse(end_at) - Date.parse(start_at)], [to, 2 * hour])
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
  const DATA_DIR = scratchFolder(t)
  const { output, stop } = await serveProcess(t, { DATA_DIR, LOG_LEVEL: 'info' })
  const [, url = ''] = /Rapport serves (\S+)/.exec(output()) ?? []
  await makePage({ call: client(url, firstKey(DATA_DIR)) }, { minimum_notice_minutes: 0 })
  const { get, post } = visitor(url)
  const [slot = ''] = timesOf((await get('/book/demo')).text)
  const { location } = await post('/book/demo', { ...ana, slot })
  const link = location.split('?')[0] as string
  for (const part of ['', '/calendar.ics', '/cancel', '/move'])
    assert.equal((await get(link + part)).status, 200)
  const token = link.split('/').at(-1) as string
  for (const [method, path] of [
    ...['OPTIONS', 'DELETE', 'PUT'].map((method) => [method, link]),
    ...['/', '.', '/calendar', '/%zz', '/%ff', '?a=%ff'].map((end) => ['GET', link + end]),
    ['PUT', `${link}/cancel`],
    ['GET', `/x?next=${link}&more=1`],
    ['GET', `/x?next=${encodeURIComponent(link)}`],
    ['GET', `/book/demo/%61/${token}/x`],
    ['GET', `/BOOK/demo/A/${token}`],
  ] as [string, string][])
    await fetch(url + path, { method })
  assert.equal((await post(`${link}/cancel`, {})).status, 303)
  await stop()
  assert.match(output(), /"method":"OPTIONS","url":"\/book\/demo\/a\/…"/)
  assert.match(output(), /"url":"\/x\?next=\/book\/demo\/a\/…&more=1"/)
  assert.match(output(), /\/book\/demo"/)
  assert.ok(!output().includes(token))
})
