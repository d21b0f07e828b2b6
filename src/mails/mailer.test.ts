// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problems, refused } from '../../test/envelope.ts'
import { turnableClock, useRapport } from '../../test/harness.ts'
import { mailOf, mailsOf, mailsRest, mailsTo, queueMails, untilMail } from '../../test/mails.ts'
import { ask, useOwner } from '../../test/people.ts'
import { useSmtpServer } from '../../test/smtp-server.ts'
import { until } from '../../test/webhooks.ts'
import type { BookingKind } from './kinds.ts'

const clock = turnableClock(Date.now())
const server = useSmtpServer()
const rapport = useRapport(mailsTo(server, clock))
const ada = useOwner(rapport)

/** Time passes, while no mail is tried. */
const pass = async (ms: number) => {
  await mailsRest(rapport, clock)
  clock.advance(ms)
}
const queue = (...mails: Parameters<typeof queueMails>[2][]) => queueMails(rapport, clock, ...mails)
const one = async (to: string) => (await queue({ recipient: to }))[0] as string
const attempted = (id: string, count: number) =>
  untilMail(
    rapport,
    id,
    ({ attempt_count, next_attempt_at, status }) =>
      attempt_count === count && (status !== 'pending' || next_attempt_at !== null),
  )
const ended = (id: string) => untilMail(rapport, id, ({ status }) => status !== 'pending')
const seconds = (mail: { next_attempt_at: string }) =>
  Math.round((Date.parse(mail.next_attempt_at) - clock.now()) / 1000)
const state = async () => (await rapport.call('GET', '/api/v1/mails/server')).body.data

describe('a mail', () => {
  test('is sent once, to one recipient, with the subject, the texts and the date of its transaction', async () => {
    const id = await one('Ana@Example.com')
    const mail = await ended(id)
    assert.deepEqual([mail.status, mail.attempt_count, mail.attempts[0].response.code], ['sent', 1, 250])
    assert.equal(mail.message_id, `<${id}@example.com>`)
    const [sent, ...others] = server.accepted
    assert.deepEqual([sent?.to, sent?.from, others.length], [['Ana@Example.com'], 'crm@example.com', 0])
    assert.match(sent?.raw ?? '', /^From: Acme <crm@example.com>\r$/m)
    assert.match(sent?.raw ?? '', /^Auto-Submitted: auto-generated\r$/m)
    const date = /^Date: (.*)\r$/m.exec(sent?.raw ?? '')?.[1] ?? ''
    assert.equal(Date.parse(date), Math.floor(Date.parse(mail.created_at) / 1000) * 1000)
    assert.match(sent?.raw ?? '', new RegExp(`^Message-ID: <${id}@example.com>\r$`, 'm'))
    assert.match(sent?.raw ?? '', /text\/plain[\s\S]*Its text\.[\s\S]*text\/html/)
  })

  test('that a rolled-back change wrote does not exist', async () => {
    await assert.rejects(
      queue({
        content: () => {
          throw new Error('rolled back')
        },
      }),
    )
    assert.deepEqual(await mailsOf(rapport, '&recipient=nobody@example.com'), [])
  })

  test('to an address that could be read as two gets no connection', async () => {
    const connections = server.connections()
    for (const recipient of [
      'ana@example.com\r\nBcc: eve@example.com',
      'ana@example.com,eve@example.com',
      '<ana@example.com>',
      'ana@example.com@example.org',
      'ana\u202e@example.com',
    ]) {
      const mail = await mailOf(rapport, await one(recipient))
      assert.deepEqual([mail.status, mail.reason], ['failed', 'address_unsupported'])
    }
    assert.equal(server.connections(), connections)
  })

  test('is retried after each delay, and fails after the last one', async () => {
    server.script.rcpt = 451
    const id = await one('slow@example.com')
    for (const [n, delay] of [60, 300, 1800, 7200, 28_800, 86_400].entries()) {
      assert.equal(seconds(await attempted(id, n + 1)), delay)
      await pass(delay * 1000)
    }
    const mail = await attempted(id, 7)
    assert.deepEqual([mail.status, mail.reason, mail.next_attempt_at], ['failed', 'smtp_4xx', null])
  })

  test('that the server refuses fails at once', async () => {
    server.script.end = 554
    const mail = await ended(await one('refused@example.com'))
    assert.deepEqual([mail.status, mail.reason, mail.attempt_count], ['failed', 'smtp_5xx', 1])
    assert.equal(mail.attempts[0].response.code, 554)
  })

  test('that is too long is cut, and says so in both texts', async () => {
    const blocks = Array.from({ length: 400 }, (_, n) => ({ text: `${n} `.repeat(500) }))
    const [id = ''] = await queue({
      recipient: 'long@example.com',
      content: () => ({ subject: 'Long', blocks }),
    })
    const { text } = await ended(id)
    assert.ok(
      text.startsWith('0 0 ') && text.endsWith('\n\nThe rest is left out here: it is too long for a mail.\n'),
    )
    assert.match(
      server.accepted.at(-1)?.raw ?? '',
      /text\/plain[\s\S]*The rest is left out[\s\S]*text\/html[\s\S]*The rest is left out/,
    )
    const raw = server.accepted.at(-1)?.raw ?? ''
    assert.ok(Buffer.byteLength(raw) <= 256 * 1024, `${Buffer.byteLength(raw)} bytes`)
  })

  test('whose outcome is unknown is sent again with the same Message-ID', async () => {
    let raw = ''
    server.script.end = () => {
      raw = 'seen'
      return 'drop'
    }
    const id = await one('unknown@example.com')
    await attempted(id, 1)
    assert.equal(raw, 'seen')
    server.heal()
    await pass(60_000)
    assert.equal((await ended(id)).status, 'sent')
    assert.match(server.accepted[0]?.raw ?? '', new RegExp(id))
  })

  test('that nobody needs any longer is cancelled, and one of 72 hours is expired', async () => {
    const useless_at = new Date(clock.now() + 30_000).toISOString()
    server.script.rcpt = 451
    const [useless = '', old = ''] = await queue({ useless_at }, { recipient: 'old@example.com' })
    await Promise.all([attempted(useless, 1), attempted(old, 1)])
    server.heal()
    await pass(60_000)
    assert.deepEqual((await ended(useless)).status, 'cancelled')
    assert.equal((await ended(old)).status, 'sent')
    server.script.rcpt = 451
    const late = await one('late@example.com')
    await attempted(late, 1)
    server.heal()
    await pass(72 * 3_600_000)
    const { status, reason } = await ended(late)
    assert.deepEqual([status, reason], ['failed', 'expired'])
  })
})

describe('a fault of the server', () => {
  test('costs no mail a retry: one mail at a time is tried, and the first success releases all', async () => {
    server.script.connect = 421
    const ids = await queue(...Array.from({ length: 6 }, (_, n) => ({ recipient: `wait${n}@example.com` })))
    await until(state, { status: 'failing' })
    await mailsRest(rapport, clock)
    const tried = async () =>
      (await Promise.all(ids.map((id) => mailOf(rapport, id)))).map((m) => m.attempt_count)
    const sum = async () => (await tried()).reduce((a, b) => a + b, 0)
    const first = await sum()
    assert.ok(first <= 2, 'each connection had a mail')
    for (const [n, delay] of [60, 300, 1800].entries()) {
      await pass(delay * 1000)
      await until(sum, (all) => all === first + n + 1)
    }
    assert.ok(
      (await tried()).every((n) => n <= 1),
      'each try takes the mail whose last attempt is oldest',
    )
    server.heal()
    await pass(7_200_000)
    for (const id of ids) assert.equal((await ended(id)).status, 'sent')
    assert.equal((await state()).status, 'ok')
  })

  test('is shown without user and password', async () => {
    const { configured, host, port, from, reply_to } = await state()
    assert.deepEqual(
      [configured, host, port, from, reply_to],
      [true, '127.0.0.1', server.port, 'Acme <crm@example.com>', null],
    )
  })

  test('that one mail causes does not hold up the others', async () => {
    server.script.rcpt = (to) => (to === 'bad@example.com' ? 421 : undefined)
    const [bad = '', ...others] = await queue(
      { recipient: 'bad@example.com' },
      ...Array.from({ length: 4 }, (_, n) => ({ recipient: `good${n}@example.com` })),
    )
    await until(
      async () => {
        await pass(60_000)
        return Promise.all(others.map((id) => mailOf(rapport, id)))
      },
      (all) => all.every(({ status }) => status === 'sent'),
    )
    assert.equal((await mailOf(rapport, bad)).status, 'pending')
    server.heal()
    await until(
      async () => {
        await pass(60_000)
        return mailOf(rapport, bad)
      },
      { status: 'sent' },
    )
  })
})

describe('the mails of one booking to one address', () => {
  let bookings = 0
  /** The mails of a booking, in the order of its changes. */
  const changes = (recipient: string, ...kinds: BookingKind[]) => {
    const record = { kind: 'appointments', id: ++bookings }
    return kinds.map((kind) => ({
      kind,
      recipient,
      record,
      content: () => ({ subject: kind, blocks: [] }),
    }))
  }
  const arrivedAt = (address: string) =>
    server.accepted
      .filter(({ to }) => to.includes(address))
      .map(({ raw }) => /^Subject: (\S+)\r$/m.exec(raw)?.[1])

  test('arrive in the order of its changes, when the server takes mails again', async () => {
    server.script.mail = 421
    const kinds = ['booking_requested', 'booking_confirmed', 'booking_moved', 'booking_cancelled'] as const
    const people = ['Ana', 'bob', 'cem'].map((name) => `${name}@order.example`)
    const ids = await queue(...people.flatMap((person) => changes(person, ...kinds)))
    await until(state, { status: 'failing' })
    // The mails that are tried during the outage are due again later than the others.
    for (const delay of [60, 300, 1800]) await pass(delay * 1000)
    server.heal()
    await pass(7_200_000)
    for (const id of ids) assert.equal((await ended(id)).status, 'sent')
    for (const person of people) assert.deepEqual(arrivedAt(person), kinds)
  })

  test('never overtake one that is being sent, and the others do not wait for it', async () => {
    const hung = Promise.withResolvers<void>()
    let is_hanging = true
    server.script.rcpt = (to) => {
      if (to !== 'dora@order.example') return undefined
      hung.resolve()
      return is_hanging ? 'hang' : 451
    }
    const [confirmed, cancelled] = changes('dora@order.example', 'booking_confirmed', 'booking_cancelled')
    assert.ok(confirmed && cancelled)
    const [first = ''] = await queue(confirmed)
    await hung.promise
    const [second = '', other = ''] = await queue(
      { ...cancelled, recipient: 'Dora@order.example' },
      ...changes('eve@order.example', 'booking_confirmed'),
    )
    assert.equal((await ended(other)).status, 'sent')
    assert.equal((await mailOf(rapport, second)).attempts.length, 0)
    is_hanging = false
    server.drop()
    // The first one waits for its retry. The second one does not wait for it, and makes it useless.
    assert.equal((await ended(second)).status, 'sent')
    const { status, reason } = await ended(first)
    assert.deepEqual([status, reason], ['cancelled', 'A later mail of this booking was sent before it.'])
    await pass(86_400_000)
    assert.deepEqual(arrivedAt('Dora@order.example'), ['booking_cancelled'])
    assert.deepEqual(arrivedAt('dora@order.example'), [])
  })

  test('are useless alone: those to others and those of other bookings wait for their retries', async () => {
    server.script.rcpt = 451
    const waiting = await queue(
      ...changes('fay@order.example', 'booking_confirmed'),
      ...changes('gus@order.example', 'booking_confirmed'),
    )
    for (const id of waiting) await attempted(id, 1)
    const [requested, confirmed] = changes('fay@order.example', 'booking_requested', 'booking_confirmed')
    assert.ok(requested && confirmed)
    const [last = ''] = await queue({ ...requested, recipient: 'gus@order.example' })
    await attempted(last, 1)
    server.heal()
    assert.equal((await ended((await queue(confirmed))[0] as string)).status, 'sent')
    for (const id of [...waiting, last]) assert.equal((await mailOf(rapport, id)).status, 'pending')
    await pass(60_000)
    for (const id of [...waiting, last]) assert.equal((await ended(id)).status, 'sent')
  })
})

describe('the test mail', () => {
  const send = (call = ada, body: object = {}) => call('POST', '/mails/test', body)

  test('goes to the own address by default, and the answer waits for its attempt', async () => {
    const { data } = (await rapport.call('POST', '/api/v1/mails/test', { recipient: 'ada@example.com' })).body
    assert.deepEqual([data.status, data.attempts.length, data.kind], ['sent', 1, 'test'])
    const own = await ask(ada, 'POST', '/mails/test', {})
    assert.equal(own.recipient, data.recipient)
    // A mail of an earlier test may come twice, because its clock runs past the lease.
    assert.equal(server.accepted.filter(({ to }) => to.includes(own.recipient)).length, 2)
  })

  test('goes to members alone', async () => {
    assert.deepEqual(problems(await send(ada, { recipient: 'eve@example.com' })), { recipient: 'not_found' })
    assert.deepEqual(problems(await rapport.call('POST', '/api/v1/mails/test', {})), {
      recipient: 'not_found',
    })
  })

  test('answers 200 when it fails, has no retries, and is limited to 10 an hour', async () => {
    await pass(3_600_000)
    server.script.mail = 451
    const failed = await ask(ada, 'POST', '/mails/test', {})
    assert.deepEqual([failed.status, failed.reason, failed.attempt_count], ['failed', 'smtp_4xx', 1])
    server.heal()
    for (let n = 0; n < 9; n++) assert.equal((await send()).status, 200)
    const over = await send()
    refused(over, 429, 'rate_limited')
    assert.ok(Number(over.headers.get('retry-after')) > 3000)
    await pass(3_600_001)
    assert.equal((await send()).status, 200)
  })
})

describe('a resend', () => {
  const resend = (id: string) => rapport.call('POST', `/api/v1/mails/${id}/resend`, {})

  test('is the same message, one attempt at once, and numbered on', async () => {
    server.script.end = 554
    const id = await one('again@example.com')
    await ended(id)
    server.heal()
    const { body } = await resend(id)
    assert.deepEqual([body.data.status, body.data.attempts.length], ['sent', 2])
    assert.equal(body.data.attempts[1].number, 2)
    const [logged] = (await rapport.call('GET', '/api/v1/audit-log?per_page=1&kind=mails')).body.data
    assert.deepEqual([logged.action, logged.record_id], ['resent', id])
    server.script.rcpt = 451
    assert.deepEqual((await resend(id)).body.data.status, 'failed')
    server.heal()
    for (let n = 0; n < 8; n++) assert.equal((await resend(id)).status, 200)
    refused(await resend(id), 429, 'rate_limited')
  })

  test('of a pending or cancelled mail is refused', async () => {
    server.script.rcpt = 451
    const useless_at = new Date(clock.now() + 1000).toISOString()
    const [pending = '', cancelled = ''] = await queue({}, { useless_at })
    await attempted(pending, 1)
    refused(await resend(pending), 409, 'conflict')
    await pass(61_000)
    await ended(cancelled)
    refused(await resend(cancelled), 409, 'conflict')
    refused(await resend('mail_of_nobody'), 404, 'not_found')
  })

  test('sends what was not sent, with the same Message-ID and Date each time', async () => {
    const [limited = ''] = await queue({ recipient: 'limited@example.com', not_sent: 'limit' })
    assert.deepEqual((await mailOf(rapport, limited)).reason, 'limit')
    const { data } = (await resend(limited)).body
    assert.deepEqual([data.status, data.reason, data.attempt_count], ['sent', null, 1])
    const again = (await resend(limited)).body.data
    assert.equal(again.message_id, data.message_id)
    const raws = server.accepted.filter(({ to }) => to.includes('limited@example.com')).map(({ raw }) => raw)
    const dates = raws.map((raw) => /^Date: .*$/m.exec(raw)?.[0])
    assert.deepEqual([raws.length, new Set(dates).size], [2, 1])
  })
})
