// runs: both, apart
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ana, type Made, makePage, visitor } from '../booking.ts'
import { calendarFile, hourAt } from '../calendar-server.ts'
import { startRapport } from '../harness.ts'
import { mailSettings, partsOf, queueMails } from '../mails.ts'
import { ask, type Browser, join, setUp } from '../people.ts'
import { useFor } from '../use.ts'
import { until } from '../webhooks.ts'
import { missingCalDav, startCalDav } from './caldav.ts'
import { missingDovecot, startDovecot } from './dovecot.ts'
import { killMails } from './mail-kills.ts'
import { missingPostfix, startPostfix } from './postfix.ts'
import { report } from './report.ts'

const count = 1000

test('a postfix that stops in the middle of 1,000 mails loses none, and each is in the mailbox once', {
  skip: missingPostfix() ?? false,
}, async (t) => {
  const postfix = await useFor(t, startPostfix())
  const rapport = await useFor(
    t,
    startRapport({ env: mailSettings(postfix.url, { MAIL_RETRY_DELAYS: '1', SMTP_TIMEOUT_MS: '5000' }) }),
  )
  const clock = { now: () => Date.now(), elapsed: () => Date.now(), advance: () => {}, set: () => {} }
  const wanted = Array.from({ length: count }, (_, n) => ({ recipient: `person${n}@example.com` }))
  const ids = await queueMails(rapport, clock, ...wanted)
  const total = async (query: string) =>
    (await rapport.call('GET', `/api/v1/mails?per_page=1&${query}`)).body.meta.total
  const began = performance.now()
  await until(
    () => total('status=sent'),
    (sent) => sent > count / 5,
  )
  await postfix.stop()
  await pause(3000)
  await postfix.start()
  await until(
    () => total('status=sent'),
    (sent) => sent === count,
  )
  const took_s = (performance.now() - began) / 1000
  const found = await until(
    async () => postfix.mails(),
    (mails) => new Set(mails.map((mail) => /^Message-ID: (\S+)/im.exec(mail)?.[1])).size === count,
  )
  const known = new Set(ids.map((id) => `<${id}@example.com>`))
  for (const mail of found) assert.ok(known.has(/^Message-ID: (\S+)/im.exec(mail)?.[1] ?? ''))
  // A second one only after an outcome that nobody knows.
  const { text } = await rapport.call('GET', '/metrics')
  const unknown = Number(/rapport_mail_attempts_total\{outcome="unknown"\} (\d+)/.exec(text)?.[1] ?? 0)
  assert.ok(found.length - count <= unknown, `${found.length} mails, ${unknown} unknown outcomes`)
  const figures = `${count} mails in ${took_s.toFixed(1)} s, ${found.length - count} of them twice`
  t.diagnostic(figures)
  report({ fault: 'mail', figures, events: count })
})

test('forty kills at random moments of bookings, sending, reminders, digests and polls lose no mail, and repeat none but with its Message-ID', async (t) => {
  const seed = Date.now() % 100_000
  const { acknowledged, reminders, twice } = await killMails(t, { kills: 40, seed })
  const figures = `40 kills (seed ${seed}): ${acknowledged} bookings acknowledged, ${reminders} reminders, ${twice} mails more than once`
  t.diagnostic(figures)
  report({ fault: 'mail', figures, events: acknowledged })
})

test('a mail program reads the mail of a booking by IMAP, and its calendar file by another parser', {
  skip: missingPostfix() ?? missingDovecot() ?? false,
}, async (t) => {
  const postfix = await useFor(t, startPostfix())
  const rapport = await useFor(
    t,
    startRapport({ env: mailSettings(postfix.url, { SMTP_TIMEOUT_MS: '20000' }) }),
  )
  await makePage(rapport, { minimum_notice_minutes: 0 })
  const { get, post } = visitor(rapport.url)
  const [{ start_at: slot }] = JSON.parse((await get('/book/demo/slots')).text).data
  const booked = await post('/book/demo', { ...ana, email: 'ana@example.com', slot })
  assert.equal(booked.status, 303, booked.text)
  await until(
    async () => postfix.mails(),
    (mails) => mails.length === 1,
  )
  const dovecot = await useFor(t, startDovecot(postfix.maildir))
  const [raw = '', ...more] = await dovecot.mails()
  assert.deepEqual(more, [])
  assert.match(raw, /^To: ana@example\.com\r$/m)
  const { default: ICAL } = await import('ical.js')
  const file = partsOf(raw)['text/calendar'] ?? ''
  const calendar = new ICAL.Component(ICAL.parse(file))
  assert.equal(calendar.getFirstPropertyValue('method'), 'REQUEST')
  const [event, ...others] = calendar.getAllSubcomponents('vevent').map((one) => new ICAL.Event(one))
  assert.equal(others.length, 0)
  assert.equal(event?.startDate.toJSDate().toISOString(), slot)
  assert.equal(event?.summary, 'Product demo')
})

/** A member with a calendar of another server, and the times at which the member is busy by it. */
async function hostOf(t: TestContext, url: string, credentials: object) {
  const rapport = await useFor(t, startRapport())
  const { id: user_id, call } = await join(await setUp(rapport), rapport.url, 'member')
  const page = await makePage(rapport, { ...always, hosts: [{ user_id }], time_zone: 'UTC' })
  const calendar = await ask(call, 'POST', '/busy-calendars', { url, ...credentials })
  const path = `/busy-calendars/${calendar.id}`
  await until(
    () => ask(call, 'GET', path),
    ({ last_attempt_at }) => last_attempt_at !== null,
  )
  const range = `from=${new Date(day).toISOString()}&to=${new Date(day + 24 * hour).toISOString()}`
  return {
    change: (fields: object) => ask(call, 'PUT', path, fields),
    refresh: () => refreshed(call, path),
    /** The hours of a day that the page does not offer. */
    async taken(): Promise<number[]> {
      const { body } = await rapport.call('GET', `/api/v1/booking-pages/${page.id}/slots?${range}`)
      const free = new Set(body.data.map(({ start_at }: Made) => Date.parse(start_at)))
      return Array.from({ length: 24 }, (_, n) => n).filter((n) => !free.has(day + n * hour))
    },
  }
}
const hour = 3_600_000
// A week ahead.
const day = Math.ceil(Date.now() / (24 * hour)) * 24 * hour + 7 * 24 * hour
const whole_day = [{ from: '00:00', to: '24:00' }]
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const always = {
  availability: Object.fromEntries(days.map((name) => [name, whole_day])),
  duration_minutes: 60,
  minimum_notice_minutes: 0,
}
async function refreshed(call: Browser, path: string): Promise<Made> {
  await pause(2100)
  return ask(call, 'POST', `${path}/refresh`, {})
}
const eventAt = (name: string, n: number, more = '') =>
  calendarFile(`UID:${name}@example.com\n${hourAt(day + n * hour)}${more}`)

test('events that a calendar program puts, moves and removes in radicale are busy times after the next poll', {
  skip: missingCalDav('radicale') ?? false,
}, async (t) => {
  const radicale = await useFor(t, startCalDav('radicale'))
  const { name: username, password } = radicale.person
  await radicale.put('dentist', eventAt('dentist', 9))
  const host = await hostOf(t, radicale.url, { username, password: 'wrong' })
  assert.equal((await host.refresh()).last_error.code, 'http_error')
  assert.deepEqual(await host.taken(), [])
  await host.change({ password })
  assert.deepEqual([(await host.refresh()).status, await host.taken()], ['ok', [9]])
  await radicale.put('dentist', eventAt('dentist', 11))
  await radicale.put('lunch', eventAt('lunch', 13, '\nRRULE:FREQ=DAILY;COUNT=3'))
  await host.refresh()
  assert.deepEqual(await host.taken(), [11, 13])
  const unchanged = await host.refresh()
  assert.deepEqual([unchanged.status, unchanged.busy_count, await host.taken()], ['ok', 4, [11, 13]])
  await radicale.remove('dentist')
  await host.refresh()
  assert.deepEqual(await host.taken(), [13])
  // While Rapport polls, a program writes: each poll reads the calendar as it was at some moment.
  const writing = (async () => {
    for (let n = 0; n < 24; n++) {
      await radicale.put(`event-${n}`, eventAt(`event-${n}`, n))
      await pause(150)
    }
  })()
  let last = 1
  for (let poll = 0; poll < 3; poll++) {
    const { status } = await host.refresh()
    assert.equal(status, 'ok')
    const taken = (await host.taken()).filter((n) => n !== 13)
    assert.deepEqual(
      taken,
      Array.from({ length: 24 }, (_, n) => n).filter((n) => n !== 13 && n <= (taken.at(-1) ?? -1)),
    )
    assert.ok(taken.length >= last - 1)
    last = taken.length
  }
  await writing
  await host.refresh()
  assert.equal((await host.taken()).length, 24)
})

test('a collection of xandikos is no calendar over plain GET, and each of its events is one', {
  skip: missingCalDav('xandikos') ?? false,
}, async (t) => {
  const xandikos = await useFor(t, startCalDav('xandikos'))
  await xandikos.put('dentist', eventAt('dentist', 9))
  const host = await hostOf(t, xandikos.url, {})
  const { status, last_error } = await host.refresh()
  // It has a page for people alone.
  const refused = { code: 'http_error', message: 'The answer had the status 406.' }
  assert.deepEqual([status, last_error], ['failing', refused])
  await host.change({ url: `${xandikos.url}dentist.ics` })
  assert.equal((await host.refresh()).status, 'ok')
  assert.deepEqual(await host.taken(), [9])
  const { headers } = await xandikos.send('GET', `${xandikos.url}dentist.ics`)
  const known = { 'if-none-match': headers.get('etag') ?? '' }
  assert.equal((await xandikos.send('GET', `${xandikos.url}dentist.ics`, undefined, known)).status, 304)
  assert.equal((await host.refresh()).status, 'ok')
})
