// runs: both
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { ana, type Made, openPage } from '../booking.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { mailOf, mailSettings, mailsOf, untilMail } from '../mails.ts'
import { ask, type Browser, join, keyCaller, setUp } from '../people.ts'
import { startSmtpServer } from '../smtp-server.ts'
import { before, use } from '../use.ts'

const clock = turnableClock()
const server = use(startSmtpServer)
const rapport = useRapport(
  Object.defineProperty({ clock }, 'env', { get: () => mailSettings(server.url), enumerable: true }),
)
let ada: Browser
before(async () => {
  ada = await setUp(rapport)
})
afterEach(() => {
  server.heal()
  server.accepted.length = 0
})
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
const newest = async (address: string, kind: string) => {
  const [mail] = await mailsOf(rapport, `&kind=${kind}&recipient=${encodeURIComponent(address)}`)
  return untilMail(rapport, mail.id, ({ status }) => status !== 'pending')
}

/** The parts of a message by their types, decoded. */
function partsOf(raw: string): Record<string, string> {
  const parts: Record<string, string> = {}
  for (const part of raw.split(/^--[^\r\n]+\r\n/m)) {
    const [head = '', ...body] = part.split('\r\n\r\n')
    const type = /^Content-Type: ([^;\r\n]+)/im.exec(head)?.[1]
    if (!type || type.startsWith('multipart')) continue
    const text = body.join('\r\n\r\n').replace(/\r\n--[^\r\n]*--[\s\S]*$/, '')
    const encoding = /^Content-Transfer-Encoding: (\S+)/im.exec(head)?.[1]
    parts[type] =
      encoding === 'base64'
        ? Buffer.from(text, 'base64').toString()
        : encoding === 'quoted-printable'
          ? Buffer.from(
              text
                .replaceAll('=\r\n', '')
                .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
              'latin1',
            ).toString()
          : text
  }
  return parts
}
const arrived = (address: string) =>
  partsOf(server.accepted.findLast(({ to }) => to.includes(address))?.raw ?? '')
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
    const { 'text/plain': text = '', 'text/html': html = '', 'text/calendar': file = '' } = arrived(one.email)
    for (const part of [text, html, file])
      assert.ok(part.replaceAll('\r\n ', '').includes(`${rapport.url}${one.link}`))
    assert.deepEqual([property(file, 'METHOD'), property(file, 'STATUS')], ['REQUEST', 'CONFIRMED'])
    for (const line of file.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75)
    const own = (await one.get(`${one.link}/calendar.ics`)).text
    assert.equal(property(file, 'UID'), property(own, 'UID'))
    assert.ok(!JSON.stringify(mail).includes(one.link))

    await ask(key, 'PUT', `/appointments/${one.id}`, { start_at: inHours(30), end_at: inHours(31) })
    await newest(one.email, 'booking_moved')
    const moved = arrived(one.email)['text/calendar'] ?? ''
    await one.post(`${one.link}/cancel`, {})
    await newest(one.email, 'booking_cancelled')
    const gone = arrived(one.email)['text/calendar'] ?? ''
    assert.deepEqual([property(gone, 'METHOD'), property(gone, 'STATUS')], ['CANCEL', 'CANCELLED'])
    assert.equal(new Set([file, moved, gone].map((one) => property(one, 'UID'))).size, 1)
    const sequences = [file, moved, gone].map((one) => Number(property(one, 'SEQUENCE')))
    assert.deepEqual(sequences, [...new Set(sequences)].sort())
    assert.deepEqual(await kindsTo(one.email), ['booking_confirmed', 'booking_moved', 'booking_cancelled'])
  })

  test('reads nothing that a visitor typed', async () => {
    const spam = 'BUY-NOW'
    const one = await booked(
      {},
      { first_name: spam, last_name: spam, message: `${spam} https://spam.example` },
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
    assert.equal(property(arrived(one.email)['text/calendar'] ?? '', 'STATUS'), 'TENTATIVE')
    await ask(key, 'POST', `/appointments/${one.id}/accept`, {})
    assert.equal((await newest(one.email, 'booking_confirmed')).status, 'sent')
    const other = await booked({ approval: true })
    await ask(key, 'POST', `/appointments/${other.id}/decline`, { reason: 'We are closed.' })
    const declined = await newest(other.email, 'booking_declined')
    assert.doesNotMatch(declined.text, /We are closed/)
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

describe('the host', () => {
  test('gets mails with the address in the web app and never the private link; not about the own act', async () => {
    const grace = await join(ada, rapport.url, 'member')
    const one = await booked()
    await ask(key, 'PUT', `/appointments/${one.id}`, { owner_id: grace.id })
    await ask(key, 'PUT', `/appointments/${one.id}`, { location: 'Room 4' })
    const mail = await newest(grace.email, 'booking_moved')
    assert.match(mail.text, /Room 4[\s\S]*Ana Ruiz/)
    assert.match(mail.text, new RegExp(`${rapport.url}/calendar/${one.id}`))
    assert.doesNotMatch(JSON.stringify(arrived(grace.email)), /\/book\//)
    await ask(grace.call, 'POST', `/appointments/${one.id}/cancel`, {})
    assert.deepEqual(
      (await kindsTo(grace.email)).filter((kind) => kind.startsWith('booking')),
      ['booking_moved'],
    )
    assert.deepEqual((await kindsTo(one.email)).at(-1), 'booking_cancelled')
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
