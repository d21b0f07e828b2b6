// runs: both
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { oneLine } from '../../src/mails/render.ts'
import { ana, type Made, makePage, visitor } from '../booking.ts'
import { newWorkspace, useStored } from '../database.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { mailsOf, mailsTo, partsOf, queueMails, untilMail } from '../mails.ts'
import { ask, join, keyCaller, useOwner } from '../people.ts'
import { exchange } from '../raw-http.ts'
import { useSmtpServer } from '../smtp-server.ts'
import { until } from '../webhooks.ts'

const clock = turnableClock()
const server = useSmtpServer()
const rapport = useRapport(
  mailsTo(server, clock, {
    TRUSTED_PROXIES: '127.0.0.0/8',
    BOOKING_RATE_PER_SECOND: '0',
    OPEN_RATE_PER_SECOND: '0',
  }),
)
const stored = useStored(rapport)
const ada = useOwner(rapport)
afterEach(() => {
  // The counts of an earlier test are over.
  clock.advance(25 * hour)
})
const key = keyCaller(rapport)

const hour = 3_600_000
const whole_day = [{ from: '00:00', to: '24:00' }]
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const always = {
  availability: Object.fromEntries(days.map((day) => [day, whole_day])),
  minimum_notice_minutes: 0,
}
let pages = 0
const page = (fields: object = {}, by: Pick<typeof rapport, 'call'> = rapport): Promise<Made> =>
  makePage(by, { slug: `attacked-${++pages}`, ...always, ...fields })
let networks = 0
/** A visitor from a network address of their own. */
const stranger = () =>
  visitor(rapport.url, { 'x-forwarded-for': `10.1.${++networks >> 8}.${networks & 255}` })
let slots = 0
const nextSlot = () =>
  new Date(Math.ceil(clock.now() / hour) * hour + (24 + (++slots % 400)) * hour).toISOString()
async function book({ slug }: { slug: string }, form: Record<string, string>, by = stranger()) {
  const answer = await by.post(`/book/${slug}`, { ...ana, slot: nextSlot(), ...form })
  assert.equal(answer.status, 303, answer.text)
  return { ...by, link: answer.location.split('?')[0] as string }
}
const limited = (mails: { reason: string | null }[]) =>
  mails.filter(({ reason }) => reason === 'limit').length
const written = (email: string) => mailsOf(rapport, `&recipient=${encodeURIComponent(email)}`)

test('an address gets at most 10 mails a day, over pages, workspaces, networks and spellings', async () => {
  const other = await newWorkspace(rapport)
  const spellings = ['víctim@example.com', 'VÍCTIM@example.com', 'vi\u0301ctim@EXAMPLE.com']
  const of_pages = [await page(), await page(), await page({}, { call: other })]
  for (let n = 0; n < 15; n++)
    await book(of_pages[n % 3], { email: spellings[n % spellings.length] as string })
  const here = await written('víctim@example.com')
  const there = (await other('GET', '/api/v1/mails?per_page=100')).body.data
  assert.deepEqual([here.length + there.length, limited(here) + limited(there)], [15, 5])
  const causes = JSON.stringify(await stored.rows('SELECT * FROM mail_causes'))
  assert.doesNotMatch(causes, /ctim|example\.com|10\.1\./i, 'addresses are keyed hashes')
})

test('a network address causes at most 20 mails an hour, and a page twice its bookings', async () => {
  const one = await page()
  const by = stranger()
  const emails = Array.from({ length: 23 }, (_, n) => `network${n}@example.com`)
  for (const email of emails) await book(one, { email }, by)
  const all = (await Promise.all(emails.map(written))).flat()
  assert.deepEqual([all.length, limited(all)], [23, 3])

  const small = await page({ bookings_per_hour: 2 })
  const email = 'mover@example.com'
  const { link, get } = await book(small, { email })
  assert.equal((await get(link)).status, 200)
  for (let n = 0; n < 5; n++) {
    const { post } = stranger()
    assert.equal((await post(`${link}/move`, { slot: nextSlot() })).status, 303)
  }
  const moved = await written(email)
  assert.deepEqual([moved.length, limited(moved)], [6, 2])
})

test('moving to and fro writes to the visitor and to the host at most 10 times each, and always succeeds', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const one = await page()
  const email = 'fro@example.com'
  const { link } = await book(one, { email })
  const [{ id }] = await ask(key, 'GET', `/appointments?booking_page_id=${one.id}`)
  await ask(key, 'PUT', `/appointments/${id}`, { owner_id: grace.id })
  for (let n = 0; n < 13; n++) {
    const { post } = stranger()
    assert.equal((await post(`${link}/move`, { slot: nextSlot() })).status, 303)
  }
  const to_visitor = await written(email)
  assert.deepEqual([to_visitor.length, limited(to_visitor)], [14, 4])
  const to_host = await mailsOf(rapport, `&user_id=${grace.id}&kind=booking_confirmed,booking_moved`)
  assert.deepEqual([to_host.length, limited(to_host)], [14, 4])
})

test('a host header changes no link of a mail', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const raw = (path: string, type: string, body: string) =>
    exchange(
      rapport.url,
      `POST ${path} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
  const [reset] = await raw(
    '/api/v1/password-reset/request',
    'application/json',
    JSON.stringify({ email: grace.email }),
  )
  assert.equal(reset?.status, 202, reset?.text)
  const { slug } = await page()
  const form = new URLSearchParams({ ...ana, email: 'host@example.com', slot: nextSlot() })
  const [booked] = await raw(`/book/${slug}`, 'application/x-www-form-urlencoded', String(form))
  assert.equal(booked?.status, 303, booked?.text)
  await until(
    async () => server.accepted.length,
    (count) => count >= 2,
  )
  for (const { raw: message } of server.accepted) {
    const text = message.replaceAll('=\r\n', '')
    assert.ok(!text.includes('evil.example'))
    assert.ok(text.includes(rapport.url) || /base64/i.test(text))
  }
})

const hostile = [
  'Ana\r\nBcc: eve@example.com',
  '=?utf-8?B?RXZl?= =?utf-8?Q?=0D=0ABcc:_eve@example.com?=',
  'a, b <eve@example.com>; "c"',
  'x\u202eevil\u2066\u200f',
  '\u0000\u0007\u2028\ufdd00',
  'é'.repeat(10_000),
]

test('texts with line breaks, addresses, encoded words, bidirectional controls and 10,000 characters stay one subject and one recipient', async () => {
  const ids = await queueMails(
    rapport,
    clock,
    ...hostile.map((text) => ({
      recipient: 'ana@example.com',
      content: () => ({ subject: text, blocks: [{ text: oneLine(text) }, { list: [oneLine(text)] }] }),
    })),
  )
  for (const id of ids) {
    const mail = await untilMail(rapport, id, ({ status }) => status === 'sent')
    assert.ok([...mail.subject].length <= 200)
    assert.doesNotMatch(mail.subject, /[\u0000-\u001f\u202a-\u202e\u2066-\u2069\u200e\u200f\ufdd0]/)
    const found = server.accepted.find(({ raw }) => raw.includes(mail.message_id))
    assert.deepEqual(found?.to, ['ana@example.com'])
    const [head = ''] = found?.raw.split('\r\n\r\n') ?? []
    const fields = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
    const named = (name: RegExp) => fields.filter((field) => name.test(field))
    assert.deepEqual(named(/^(To|Cc|Bcc):/i), ['To: ana@example.com'])
    assert.equal(named(/^Subject:/i).length, 1)
    for (const line of found?.raw.split('\r\n') ?? []) assert.ok(Buffer.byteLength(line) <= 998)
    assert.ok(Buffer.byteLength(found?.raw ?? '') <= 256 * 1024)
  }
})

test('a name that a visitor types reaches the host as text, and begins no header', async () => {
  const grace = await join(ada, rapport.url, 'member')
  const one = await page({ title: 'Demo\u202e <b>' })
  const names = ['Ana\nBcc: eve@example.com', '<img src=x onerror=alert(1)>', '=?utf-8?B?RXZl?=']
  for (const [n, first_name] of names.entries()) {
    const { link } = await book(one, { first_name, email: `typed${n}@example.com` })
    const [{ id }] = await ask(key, 'GET', `/appointments?booking_page_id=${one.id}&sort=-id`)
    await ask(key, 'PUT', `/appointments/${id}`, { owner_id: grace.id })
    const { post } = stranger()
    await post(`${link}/cancel`, {})
  }
  const mails = await until(
    () => mailsOf(rapport, `&user_id=${grace.id}&kind=booking_cancelled`),
    (all) => all.length === names.length && all.every(({ status }) => status === 'sent'),
  )
  assert.equal(mails.length, names.length)
  for (const { to, raw } of server.accepted) {
    assert.equal(to.length, 1)
    const [head = ''] = raw.split('\r\n\r\n')
    assert.doesNotMatch(head, /^Bcc:/im)
    assert.ok(!partsOf(raw)['text/html']?.includes('<img'))
  }
})
