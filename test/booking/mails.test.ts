// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keepUpBookings } from '../../src/booking-site/upkeep.ts'
import { ana, type Made, openPage, visitor } from '../booking.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { arrivedMail, besideMails, mailOf, mailsOf, mailsTo, partsOf, untilMail } from '../mails.ts'
import { ask, join, keyCaller, useOwner } from '../people.ts'
import { useSmtpServer } from '../smtp-server.ts'

const clock = turnableClock()
const server = useSmtpServer()
const rapport = useRapport(mailsTo(server, clock))
const ada = useOwner(rapport)
const key = keyCaller(rapport)

const whole_day = [{ from: '00:00', to: '24:00' }]
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const always = {
  availability: Object.fromEntries(days.map((day) => [day, whole_day])),
  minimum_notice_minutes: 0,
}
const hour = 3_600_000
const inHours = (hours: number) => new Date(Math.ceil(clock.now() / hour) * hour + hours * hour).toISOString()

let visitors = 0
/** A visitor's booking, with the private link. */
async function booked(fields: object = {}, form: Record<string, string> = {}) {
  const opened = await openPage(rapport, { ...always, ...fields })
  const email = `visitor${++visitors}@example.com`
  const slot = inHours(24)
  const { location, text } = await opened.post(opened.path, { ...ana, email, slot, ...form })
  assert.ok(location, text)
  const [{ id }] = (await ask(key, 'GET', `/appointments?booking_page_id=${opened.page.id}`)) as Made[]
  return { ...opened, id, email: form.email ?? email, slot, link: location.split('?')[0] as string }
}
const kindsTo = async (address: string) =>
  (await mailsOf(rapport, `&recipient=${encodeURIComponent(address)}`)).map(({ kind }) => kind).reverse()
const kindsOfHost = async (address: string) =>
  (await kindsTo(address)).filter((kind) => kind !== 'invitation' && kind !== 'new_sign_in')
const newest = async (address: string, kind: string) => {
  const [mail] = await mailsOf(rapport, `&kind=${kind}&recipient=${encodeURIComponent(address)}`)
  return untilMail(rapport, mail.id, ({ status }) => status !== 'pending')
}

const arrived = (mail: { id: string }) => partsOf(arrivedMail(server, mail))
const property = (file: string, name: string) =>
  new RegExp(`^${name}[:;](.*)$`, 'm').exec(file.replaceAll('\r\n ', ''))?.[1]?.trim()

describe('the visitor', () => {
  test('gets a mail with the private link, and its calendar file is one entry that moves and goes', async () => {
    const one = await booked({ title: 'Demo, with "us"; \\now' })
    const mail = await newest(one.email, 'booking_confirmed')
    assert.deepEqual(
      [mail.status, mail.has_calendar, mail.record],
      ['sent', true, { kind: 'appointments', id: one.id }],
    )
    const { 'text/plain': text = '', 'text/html': html = '', 'text/calendar': file = '' } = arrived(mail)
    for (const part of [text, html, file])
      assert.ok(part.replaceAll('\r\n ', '').includes(`${rapport.url}${one.link}`))
    assert.deepEqual([property(file, 'METHOD'), property(file, 'STATUS')], ['REQUEST', 'CONFIRMED'])
    for (const line of file.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75)
    const own = (await one.get(`${one.link}/calendar.ics`)).text
    assert.equal(property(file, 'UID'), property(own, 'UID'))
    assert.ok(!JSON.stringify(mail).includes(one.link))

    await ask(key, 'PUT', `/appointments/${one.id}`, { start_at: inHours(30), end_at: inHours(31) })
    const moved = arrived(await newest(one.email, 'booking_moved'))['text/calendar'] ?? ''
    await one.post(`${one.link}/cancel`, {})
    const gone = arrived(await newest(one.email, 'booking_cancelled'))['text/calendar'] ?? ''
    assert.deepEqual([property(gone, 'METHOD'), property(gone, 'STATUS')], ['CANCEL', 'CANCELLED'])
    assert.equal(new Set([file, moved, gone].map((one) => property(one, 'UID'))).size, 1)
    const sequences = [file, moved, gone].map((one) => Number(property(one, 'SEQUENCE')))
    assert.deepEqual(sequences, [...new Set(sequences)].sort())
    assert.deepEqual(await kindsTo(one.email), ['booking_confirmed', 'booking_moved', 'booking_cancelled'])
  })

  test('reads with whom they meet, in the mail and on the private page', async () => {
    const { call, id: user_id } = await join(ada, rapport.url, 'member')
    const { user, workspace } = await ask(call, 'GET', '/session')
    const one = await booked({ hosts: [{ user_id }] })
    const mail = await newest(one.email, 'booking_confirmed')
    const whom = `${user.name} · ${workspace.name}`
    const { 'text/plain': text = '', 'text/html': html = '' } = arrived(mail)
    for (const part of [text, html, (await one.get(one.link)).text]) assert.ok(part.includes(whom), part)
  })

  test('reads nothing that a visitor typed', async () => {
    const spam = 'BUY-NOW'
    const one = await booked(
      { questions: [{ key: 'topic', type: 'text' }] },
      { first_name: spam, last_name: spam, message: `${spam} https://spam.example`, answer_topic: spam },
    )
    await newest(one.email, 'booking_confirmed')
    await one.post(`${one.link}/cancel`, { reason: spam })
    await newest(one.email, 'booking_cancelled')
    for (const { raw } of server.accepted.filter(({ to }) => to.includes(one.email)))
      assert.doesNotMatch(JSON.stringify(partsOf(raw)) + raw, /BUY-NOW|spam/i)
  })

  test('hears of a request and of its answer, in the zone in which they booked', async () => {
    const one = await booked({ approval: true }, { zone: 'Asia/Tokyo' })
    const asked = await newest(one.email, 'booking_requested')
    assert.match(asked.text, /Asia\/Tokyo/)
    assert.equal(property(arrived(asked)['text/calendar'] ?? '', 'STATUS'), 'TENTATIVE')
    await ask(key, 'POST', `/appointments/${one.id}/accept`, {})
    assert.equal((await newest(one.email, 'booking_confirmed')).status, 'sent')
    const other = await booked({ approval: true })
    await ask(key, 'POST', `/appointments/${other.id}/decline`, { reason: 'We are closed.' })
    const declined = await newest(other.email, 'booking_declined')
    assert.doesNotMatch(declined.text, /We are closed/)
    const { 'text/calendar': file = '' } = arrived(declined)
    assert.deepEqual([property(file, 'METHOD'), property(file, 'STATUS')], ['CANCEL', 'CANCELLED'])
  })

  test('gets no mail for an appointment that members make, or when the contact is in the trash', async () => {
    const contact = await ask(key, 'POST', '/contacts', {
      first_name: 'Ana',
      last_name: 'Ruiz',
      email: 'own@example.com',
    })
    const times = { start_at: inHours(40), end_at: inHours(41) }
    const { id } = await ask(key, 'POST', '/appointments', {
      title: 'Call',
      contact_id: contact.id,
      ...times,
    })
    await ask(key, 'POST', `/appointments/${id}/cancel`, {})
    assert.deepEqual(await kindsTo('own@example.com'), [])
    const one = await booked()
    const { contact_id } = await ask(key, 'GET', `/appointments/${one.id}`)
    await ask(key, 'DELETE', `/contacts/${contact_id}`)
    await ask(key, 'POST', `/appointments/${one.id}/cancel`, {})
    assert.deepEqual(await kindsTo(one.email), ['booking_confirmed'])
  })

  test('gets mails that do not name the guests, who get none', async () => {
    const one = await booked()
    const guest = { first_name: 'Gustav', last_name: 'Gastmann', email: 'guest@example.com' }
    const { id } = await ask(key, 'POST', '/contacts', guest)
    await ask(key, 'PUT', `/appointments/${one.id}`, { guest_ids: [id] })
    await ask(key, 'PUT', `/appointments/${one.id}`, { start_at: inHours(30), end_at: inHours(31) })
    const moved = await newest(one.email, 'booking_moved')
    assert.doesNotMatch(JSON.stringify(arrived(moved)), /Gastmann|guest@/)
    assert.deepEqual(await kindsTo(guest.email), [])
  })

  test('gets no mail that became useless: the appointment has begun', async () => {
    server.script.rcpt = 451
    const one = await booked()
    const [{ id }] = await mailsOf(rapport, `&recipient=${one.email}`)
    await untilMail(rapport, id, ({ attempt_count }) => attempt_count === 1)
    clock.advance(26 * hour)
    const mail = await untilMail(rapport, id, ({ status }) => status !== 'pending')
    assert.equal(mail.status, 'cancelled')
  })
})

test('a member who deletes a booking, and a request that nobody answers, tell the visitor', async () => {
  const deleted = await booked()
  await ask(key, 'DELETE', `/appointments/${deleted.id}`)
  const gone = await newest(deleted.email, 'booking_cancelled')
  assert.equal(gone.status, 'sent')
  assert.equal(property(arrived(gone)['text/calendar'] ?? '', 'METHOD'), 'CANCEL')
  const expired = await booked({ approval: true }, { slot: inHours(100) })
  clock.advance(48 * hour)
  await besideMails(rapport, (db) => keepUpBookings(db, clock))
  const [{ id }] = await mailsOf(rapport, `&kind=booking_declined&recipient=${expired.email}`)
  const { text, has_calendar } = await mailOf(rapport, id)
  assert.ok(has_calendar)
  assert.doesNotMatch(text, /Nobody answered/)
})

test('a visitor reads in the language of the page when they booked, and a host in the own language and zone', async () => {
  const grace = await join(ada, rapport.url, 'member')
  await ask(grace.call, 'PUT', '/profile', { language: 'de', time_zone: 'America/New_York' })
  const opened = await openPage(rapport, { ...always, hosts: [{ user_id: grace.id }] })
  const german = visitor(rapport.url, { 'accept-language': 'de-AT,de;q=0.9' })
  const email = 'deutsch@example.com'
  const booking = { ...ana, email, slot: inHours(24), zone: 'Europe/Vienna' }
  assert.equal((await german.post(opened.path, booking)).status, 303)
  const [{ id }] = await ask(key, 'GET', `/appointments?booking_page_id=${opened.page.id}`)
  const to_visitor = await newest(email, 'booking_confirmed')
  assert.equal(to_visitor.language, 'de')
  assert.match(to_visitor.text, /Europe\/Vienna/)
  const to_host = await newest(grace.email, 'booking_confirmed')
  assert.equal(to_host.language, 'de')
  assert.match(to_host.text, /America\/New York/)
  await ask(grace.call, 'PUT', '/profile', { language: null })
  await ask(key, 'POST', `/appointments/${id}/cancel`, {})
  assert.equal((await newest(email, 'booking_cancelled')).language, 'de')
  assert.equal((await newest(grace.email, 'booking_cancelled')).language, 'en')
})

test('both parts of a booking mail have the same calendar file, with the sender and the recipient alone', async () => {
  const one = await booked()
  const raw = arrivedMail(server, await newest(one.email, 'booking_confirmed'))
  const parts = raw
    .split(/^--[^\r\n]+\r\n/m)
    .filter((part) => /^Content-Type: (text\/calendar|application\/ics)/im.test(part))
  const files = parts.map((part) => {
    const [head = '', ...body] = part.split('\r\n\r\n')
    const text = body.join('\r\n\r\n').replace(/\r\n--[^\r\n]*--[\s\S]*$/, '')
    if (/base64/i.test(head)) return Buffer.from(text, 'base64').toString()
    assert.match(head, /^Content-Transfer-Encoding: 7bit/im)
    return text
  })
  assert.equal(files.length, 2)
  assert.equal(files[0]?.trim(), files[1]?.trim())
  assert.match(parts[0] ?? '', /^Content-Type: text\/calendar;[^\r]*method=REQUEST/im)
  assert.match(raw, /filename="?invite\.ics/i)
  const file = files[0] ?? ''
  assert.equal(property(file, 'ORGANIZER'), 'mailto:crm@example.com')
  const attendees = file.replaceAll('\r\n ', '').match(/^ATTENDEE.*$/gm) ?? []
  assert.equal(attendees.length, 1)
  assert.match(attendees[0] ?? '', new RegExp(`RSVP=FALSE.*:mailto:${one.email}`))
})

test('every host of a collective booking gets its mail, and its owner one of the notification, too', async () => {
  const people = [await join(ada, rapport.url, 'member'), await join(ada, rapport.url, 'member')]
  const hosts = people.map(({ id }) => ({ user_id: id }))
  const { id } = await booked({ assignment: 'collective', hosts })
  const { owner_id } = await ask(key, 'GET', `/appointments/${id}`)
  for (const one of people) {
    const told = one.id === owner_id ? ['assigned'] : []
    assert.deepEqual((await kindsOfHost(one.email)).sort(), [...told, 'booking_confirmed'])
    await newest(one.email, 'booking_confirmed')
    const { raw } =
      server.accepted.find(({ to, raw }) => to.includes(one.email) && /invite\.ics/.test(raw)) ?? {}
    const { 'text/html': page = '' } = partsOf(raw ?? '')
    assert.equal(
      page.match(/<a [^>]*style="[^"]*background/g)?.length,
      1,
      'the way to unsubscribe is no button',
    )
    assert.match(page, /\/mail\/unsubscribe\//)
    const { data } = (await one.call('GET', '/notifications')).body
    assert.deepEqual(
      data.map(({ kind }: Made) => kind),
      told,
    )
  }
})

test('a host may switch off the mails of bookings, and those of assignments', async () => {
  const { id, email, call } = await join(ada, rapport.url, 'member')
  const preferences = { bookings: 'assigned', assigned: 'booking_confirmed' }
  for (const [off, left] of Object.entries(preferences)) {
    await ask(call, 'PUT', '/profile', { mail_preferences: { bookings: true, assigned: true, [off]: false } })
    const known = (await kindsOfHost(email)).length
    await booked({ assignment: 'round_robin', hosts: [{ user_id: id }] }, { slot: inHours(24 + known) })
    assert.deepEqual((await kindsOfHost(email)).slice(known), [left])
  }
})

describe('the host', () => {
  test('gets mails with the address in the web app and never the private link; not about the own act', async () => {
    const grace = await join(ada, rapport.url, 'member')
    const one = await booked()
    await ask(key, 'PUT', `/appointments/${one.id}`, { owner_id: grace.id })
    await ask(key, 'PUT', `/appointments/${one.id}`, { location: 'Room 4' })
    const mail = await newest(grace.email, 'booking_moved')
    assert.match(mail.text, /Room 4[\s\S]*Ana Ruiz/)
    assert.match(mail.text, new RegExp(`${rapport.url}/calendar/${one.id}`))
    assert.doesNotMatch(JSON.stringify(arrived(mail)), /\/book\//)
    await ask(grace.call, 'POST', `/appointments/${one.id}/cancel`, {})
    assert.deepEqual(
      (await kindsTo(grace.email)).filter((kind) => kind.startsWith('booking')),
      ['booking_confirmed', 'booking_moved'],
    )
    assert.deepEqual((await kindsTo(one.email)).at(-1), 'booking_cancelled')
  })

  test('of a booking that another host gets has its entry removed, and the new host has it', async () => {
    const people = [await join(ada, rapport.url, 'member'), await join(ada, rapport.url, 'member')]
    const hosts = people.map(({ id }) => ({ user_id: id }))
    const one = await booked({ assignment: 'round_robin', hosts })
    const { owner_id } = await ask(key, 'GET', `/appointments/${one.id}`)
    const [first, second] = people[0]?.id === owner_id ? people : people.toReversed()
    assert.ok(first && second)
    const entryOf = async (email: string, kind: string) => {
      const mail = await newest(email, kind)
      const { text } = mail
      const { 'text/calendar': file = '' } = arrived(mail)
      const [uid, method] = [property(file, 'UID'), property(file, 'METHOD')]
      return { uid, method, sequence: Number(property(file, 'SEQUENCE')), text }
    }
    const entry = await entryOf(first.email, 'booking_confirmed')

    await ask(key, 'PUT', `/appointments/${one.id}`, { owner_id: second.id })
    const gone = await entryOf(first.email, 'booking_cancelled')
    assert.deepEqual([gone.uid, gone.method], [entry.uid, 'CANCEL'])
    assert.ok(gone.sequence > entry.sequence)
    assert.match(gone.text, /no longer a host/)
    const given = await entryOf(second.email, 'booking_confirmed')
    assert.deepEqual([given.uid, given.method], [entry.uid, 'REQUEST'])
    assert.deepEqual(await kindsTo(one.email), ['booking_confirmed'])

    // The second host is busy then, so a move gives the booking back, as a new one.
    const times = { start_at: inHours(50), end_at: inHours(51) }
    await ask(key, 'POST', '/appointments', { title: 'Call', owner_id: second.id, ...times })
    await ask(key, 'PUT', `/appointments/${one.id}`, times)
    const left = await entryOf(second.email, 'booking_cancelled')
    const back = await entryOf(first.email, 'booking_confirmed')
    assert.deepEqual(
      [left.uid, left.method, back.uid, back.method],
      [entry.uid, 'CANCEL', entry.uid, 'REQUEST'],
    )
    assert.ok(left.sequence > given.sequence && back.sequence > gone.sequence)
    assert.deepEqual(
      (await kindsTo(first.email)).filter((kind) => kind.startsWith('booking')),
      ['booking_confirmed', 'booking_cancelled', 'booking_confirmed'],
    )
    assert.deepEqual(await kindsTo(one.email), ['booking_confirmed', 'booking_moved'])
  })
})

test('strangers cause at most 10 mails to an address in a day, over pages; bookings succeed all the same', async () => {
  const email = 'victim@example.com'
  for (let n = 0; n < 12; n++) await booked({}, { email: n % 2 ? email.toUpperCase() : email })
  const all = await mailsOf(rapport, `&recipient=${email}`)
  assert.equal(all.filter(({ reason }) => reason === 'limit').length, 2)
  assert.equal(all.length, 12)
})

test('an erased contact leaves no address and no text in the log', async () => {
  const one = await booked({}, { email: 'erase.me@example.com' })
  const { id } = await newest(one.email, 'booking_confirmed')
  const { contact_id } = await ask(key, 'GET', `/appointments/${one.id}`)
  await ask(key, 'DELETE', `/contacts/${contact_id}`)
  await key('DELETE', `/trash/contacts/${contact_id}`)
  const mail = await mailOf(rapport, id)
  assert.deepEqual([mail.recipient, mail.subject, mail.text, mail.has_calendar], ['', '', '', false])
})
