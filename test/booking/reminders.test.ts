// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { writeReminders } from '../../src/resources/appointments/reminders.ts'
import { ana, type Made, openPage } from '../booking.ts'
import { useStored } from '../database.ts'
import { engine } from '../engine.ts'
import { problems, refused } from '../envelope.ts'
import { type Rapport, startRapport, turnableClock, useRapport } from '../harness.ts'
import {
  arrivedMail,
  besideMails,
  mailOf,
  mailSettings,
  mailsOf,
  mailsTo,
  partsOf,
  untilMail,
} from '../mails.ts'
import { ask, keyCaller } from '../people.ts'
import { startSmtpServer } from '../smtp-server.ts'
import { use } from '../use.ts'
import { until } from '../webhooks.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const key = keyCaller(rapport)
const server = use(startSmtpServer)
const sending = useRapport(mailsTo(server, clock))
const stored = useStored(sending)

const whole_day = [{ from: '00:00', to: '24:00' }]
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const always = {
  availability: Object.fromEntries(days.map((day) => [day, whole_day])),
  minimum_notice_minutes: 0,
}
const minute = 60_000
const hour = 60 * minute
const inHours = (hours: number) => new Date(Math.ceil(clock.now() / hour) * hour + hours * hour).toISOString()
const later = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString()
/** Moves the clock to some minutes before a time. */
const waitUntil = (time: string, minutes = 0) =>
  clock.advance(Date.parse(time) - minutes * minute - clock.now())

let visitors = 0
/** A visitor's booking in some hours. */
async function booked(service: Rapport, hours: number, fields: object = {}, form: object = {}) {
  const opened = await openPage(service, { ...always, ...fields })
  const email = `visitor${++visitors}@example.com`
  const slot = inHours(hours)
  const { location, text } = await opened.post(opened.path, { ...ana, email, slot, ...form })
  assert.ok(location, text)
  const of_page = `/appointments?booking_page_id=${opened.page.id}`
  const [{ id }] = (await ask(keyCaller(service), 'GET', of_page)) as Made[]
  return { ...opened, id, email, slot, link: location.split('?')[0] as string }
}
type Booked = Awaited<ReturnType<typeof booked>>
/** Runs the job as two processes at once, beside that of the service. */
const run = () =>
  besideMails(rapport, async (db) => {
    await Promise.all([writeReminders(db, clock), writeReminders(db, clock)])
  })
const remindersOf = (service: Rapport, { email }: Pick<Booked, 'email'>) =>
  mailsOf(service, `&kind=booking_reminder&recipient=${encodeURIComponent(email)}`)
/** The number of reminders, when the job has run now. */
async function count(one: Booked): Promise<number> {
  await run()
  return (await remindersOf(rapport, one)).length
}
const move = ({ id }: Booked, start_at: string) =>
  ask(key, 'PUT', `/appointments/${id}`, { start_at, end_at: later(start_at, hour) })

describe('reminders', () => {
  test('come at each of their times once, from several processes', async () => {
    const one = await booked(rapport, 48, { reminders_minutes: [60, 1440] })
    assert.equal(await count(one), 0)
    waitUntil(later(one.slot, -1), 1440)
    assert.equal(await count(one), 0)
    waitUntil(one.slot, 1440)
    assert.equal(await count(one), 1)
    assert.equal(await count(one), 1)
    waitUntil(one.slot, 60)
    assert.equal(await count(one), 2)
    waitUntil(one.slot)
    assert.equal(await count(one), 2)
  })

  test('come a day before by default, and not for a time that passed before the booking', async () => {
    const [one, soon] = [await booked(rapport, 30), await booked(rapport, 2)]
    waitUntil(one.slot, 1440)
    assert.deepEqual([await count(one), await count(soon)], [1, 0])
  })

  test('of a moved booking come by its new time, and by no time twice', async () => {
    const one = await booked(rapport, 48)
    waitUntil(one.slot, 1440)
    assert.equal(await count(one), 1)
    const next = later(one.slot, hour)
    await move(one, next)
    assert.equal(await count(one), 1)
    await move(one, one.slot)
    assert.equal(await count(one), 1)
    await move(one, next)
    waitUntil(next, 1440)
    assert.equal(await count(one), 2)
  })

  test('follow the page when its times change', async () => {
    const one = await booked(rapport, 48)
    const set = (reminders_minutes: number[]) =>
      ask(key, 'PUT', `/booking-pages/${one.page.id}`, { reminders_minutes })
    await set([])
    waitUntil(one.slot, 1440)
    assert.equal(await count(one), 0)
    await set([1440, 60])
    assert.equal(await count(one), 1)
    await set([120])
    waitUntil(one.slot, 120)
    assert.equal(await count(one), 2)
    await set([60, 120])
    waitUntil(one.slot, 60)
    assert.equal(await count(one), 3)
  })

  test('come for scheduled bookings alone', async () => {
    const request = await booked(rapport, 48, { approval: true })
    const accepted = await booked(rapport, 48, { approval: true })
    const cancelled = await booked(rapport, 48)
    const deleted = await booked(rapport, 48)
    const restored = await booked(rapport, 48)
    const without_contact = await booked(rapport, 48)
    await ask(key, 'POST', `/appointments/${accepted.id}/accept`, {})
    await cancelled.post(`${cancelled.link}/cancel`, {})
    await ask(key, 'DELETE', `/appointments/${deleted.id}`)
    await ask(key, 'DELETE', `/appointments/${restored.id}`)
    await run()
    await ask(key, 'POST', `/appointments/${restored.id}/restore`, {})
    const { contact_id } = await ask(key, 'GET', `/appointments/${without_contact.id}`)
    await ask(key, 'DELETE', `/contacts/${contact_id}`)
    const email = 'own@example.com'
    const own = await ask(key, 'POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz', email })
    const { id: of_member } = await ask(key, 'POST', '/appointments', {
      title: 'Call',
      contact_id: own.id,
      booking_page_id: cancelled.page.id,
      start_at: request.slot,
      end_at: later(request.slot, hour),
    })
    await ask(key, 'PUT', `/appointments/${of_member}`, { location: 'Room 4' })
    waitUntil(request.slot, 1440)
    for (const one of [request, cancelled, deleted, without_contact]) assert.equal(await count(one), 0)
    for (const one of [accepted, restored]) assert.equal(await count(one), 1)
    assert.deepEqual(await remindersOf(rapport, { email }), [])
  })

  test('have up to 5 different times from 5 minutes to 30 days', async () => {
    const made = async (reminders_minutes: unknown) =>
      rapport.call('POST', '/api/v1/booking-pages', {
        slug: `reminders-${++visitors}`,
        title: 'Demo',
        time_zone: 'UTC',
        reminders_minutes,
      })
    assert.deepEqual(problems(await made([4])), { 'reminders_minutes.0': 'out_of_range' })
    assert.deepEqual(problems(await made([5, 43_201])), { 'reminders_minutes.1': 'out_of_range' })
    assert.deepEqual(problems(await made([5, 6, 7, 8, 9, 10])), { reminders_minutes: 'too_many' })
    assert.deepEqual((await made([43_200, 5, 5])).body.data.reminders_minutes, [43_200, 5])
    assert.deepEqual((await made(null)).body.data.reminders_minutes, [1440])
  })
})

/** Waits until the job of the service has looked at everything that is due. */
const looked = () =>
  until(
    () => stored.rows('SELECT 1 FROM bookings WHERE remind_at <= ?', new Date(clock.now()).toISOString()),
    (due) => due.length === 0,
  )

describe('the mail of a reminder', () => {
  test('has the private link and nothing that a visitor typed, and stops with one click', async () => {
    const one = await booked(
      sending,
      48,
      { reminders_minutes: [1440, 60], title: 'Demo' },
      { first_name: 'BUY-NOW', message: 'BUY-NOW' },
    )
    waitUntil(one.slot, 1440)
    await looked()
    const [{ id }] = await remindersOf(sending, one)
    const mail = await untilMail(sending, id, ({ status }) => status === 'sent')
    assert.deepEqual(
      [mail.subject, mail.has_calendar, mail.record],
      ['Reminder: Demo', false, { kind: 'appointments', id: one.id }],
    )
    const raw = arrivedMail(server, mail)
    const { 'text/plain': text = '' } = partsOf(raw)
    assert.ok(text.includes(`${sending.url}${one.link}`))
    assert.doesNotMatch(JSON.stringify(partsOf(raw)) + raw, /BUY-NOW/)
    assert.ok(!JSON.stringify(mail).includes(one.link))
    const headers = raw.replaceAll(/\r\n[ \t]+/g, ' ')
    assert.match(headers, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    const url = /^List-Unsubscribe: <([^>]+)>\r$/m.exec(headers)?.[1] ?? ''
    const form = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
    assert.equal((await fetch(url)).status, 200)
    for (const _ of [1, 2]) assert.equal((await fetch(url, form)).status, 200)
    assert.ok(!JSON.stringify(await stored.rows('SELECT * FROM reminder_stops')).includes(one.email))

    const again = await booked(sending, 60, {}, { email: one.email.toUpperCase() })
    const other = await booked(sending, 60)
    waitUntil(again.slot, 60)
    await looked()
    assert.equal((await remindersOf(sending, one)).length, 1)
    assert.equal((await remindersOf(sending, other)).length, 1)
  })

  test('is written and sent once by several whole services', async () => {
    const env = mailSettings(server.url)
    // On SQLite, one process writes.
    const others =
      engine === 'postgres'
        ? await Promise.all([1, 2].map(() => startRapport({ clock, env, data_dir: sending.data_dir })))
        : []
    try {
      const all = await Promise.all(
        Array.from({ length: 12 }, () => booked(sending, 48, { reminders_minutes: [60, 30] })),
      )
      const [first] = all as [Booked]
      for (const minutes of [60, 30]) {
        waitUntil(first.slot, minutes)
        await looked()
        // While they are sent, time that passes would end their leases.
        await until(
          () => mailsOf(sending, '&status=pending'),
          (pending) => pending.length === 0,
        )
      }
      for (const one of all) {
        const found = await until(
          () => remindersOf(sending, one),
          (mails) => mails.length === 2 && mails.every(({ status }) => status === 'sent'),
        )
        const raws = server.accepted.filter(({ to }) => to.includes(one.email)).map(({ raw }) => raw)
        for (const { message_id } of await Promise.all(found.map(({ id }) => mailOf(sending, id))))
          assert.equal(raws.filter((raw) => raw.includes(message_id)).length, 1)
      }
    } finally {
      for (const other of others) await other.close()
    }
  })

  test('is not sent when the booking was moved or has begun meanwhile', async () => {
    const [moved, begun] = [await booked(sending, 48), await booked(sending, 48)]
    server.script.rcpt = 451
    waitUntil(moved.slot, 1440)
    await looked()
    const [[of_moved], [of_begun]] = [await remindersOf(sending, moved), await remindersOf(sending, begun)]
    for (const { id } of [of_moved, of_begun])
      await untilMail(sending, id, ({ attempt_count }) => attempt_count === 1)
    const start_at = later(moved.slot, 240 * hour)
    const times = { start_at, end_at: later(start_at, hour) }
    await ask(keyCaller(sending), 'PUT', `/appointments/${moved.id}`, times)
    assert.equal((await mailOf(sending, of_moved.id)).status, 'cancelled')
    waitUntil(begun.slot)
    const mail = await untilMail(sending, of_begun.id, ({ status }) => status !== 'pending')
    assert.equal(mail.status, 'cancelled')
    server.heal()
  })

  test('is sent again while its appointment is scheduled for this time, and refused after a move or a cancellation', async () => {
    const all = [
      await booked(sending, 48),
      await booked(sending, 48),
      await booked(sending, 48),
      await booked(sending, 48),
    ]
    const [moved, cancelled, deleted, kept] = all as [Booked, Booked, Booked, Booked]
    waitUntil(kept.slot, 1440)
    await looked()
    const of = keyCaller(sending)
    const mailsBy = new Map<Booked, string>()
    for (const one of all) {
      const [{ id }] = await remindersOf(sending, one)
      await untilMail(sending, id, ({ status }) => status === 'sent')
      mailsBy.set(one, id)
    }
    const resend = (one: Booked) => sending.call('POST', `/api/v1/mails/${mailsBy.get(one)}/resend`, {})
    const start_at = later(moved.slot, 2 * hour)
    await ask(of, 'PUT', `/appointments/${moved.id}`, { start_at, end_at: later(start_at, hour) })
    await cancelled.post(`${cancelled.link}/cancel`, {})
    await ask(of, 'DELETE', `/appointments/${deleted.id}`)
    const known = server.accepted.length
    for (const [one, words] of [
      [moved, /was moved/],
      [cancelled, /is not scheduled/],
      [deleted, /is not scheduled/],
    ] as const)
      assert.match((refused(await resend(one), 409, 'conflict') as Made).message, words)
    assert.equal((await resend(kept)).body.data.status, 'sent')
    const { contact_id } = await ask(of, 'GET', `/appointments/${kept.id}`)
    await ask(of, 'DELETE', `/contacts/${contact_id}`)
    assert.match((refused(await resend(kept), 409, 'conflict') as Made).message, /gets no reminders/)
    // The confirmation of a booking that was moved is sent again until the booking begins.
    const [confirmed] = await mailsOf(sending, `&kind=booking_confirmed&recipient=${moved.email}`)
    assert.equal(
      (await sending.call('POST', `/api/v1/mails/${confirmed.id}/resend`, {})).body.data.status,
      'sent',
    )
    const earlier = later(moved.slot, -2 * hour)
    await ask(of, 'PUT', `/appointments/${moved.id}`, { start_at: earlier, end_at: later(earlier, hour) })
    waitUntil(earlier)
    const late = await sending.call('POST', `/api/v1/mails/${confirmed.id}/resend`, {})
    assert.match((refused(late, 409, 'conflict') as Made).message, /has begun/)
    assert.ok(server.accepted.length >= known + 2)
  })

  test('counts in the limits of mails that strangers cause', async () => {
    const all = { reminders_minutes: [5, 10, 15, 20, 25] }
    const one = await booked(sending, 2, all)
    const other = await booked(sending, 2, all, { email: one.email })
    waitUntil(other.slot, 5)
    await looked()
    const mails = await mailsOf(sending, `&recipient=${one.email}`)
    assert.equal(mails.length, 12)
    assert.equal(mails.filter(({ reason }) => reason === 'limit').length, 2)
  })
})
