import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { readConfig } from '../src/config.ts'
import { type Db, transaction } from '../src/db/db.ts'
import { openDatabase } from '../src/db/open.ts'
import { createSeal, readSecretKey } from '../src/db/seal.ts'
import { hashToken } from '../src/db/token-hash.ts'
import { contextOf, service } from '../src/events/context.ts'
import { createMailer, senders } from '../src/mails/mailer.ts'
import { setMailing } from '../src/mails/mailing.ts'
import { writeMail } from '../src/mails/outbox.ts'
import { createSmtp } from '../src/mails/smtp.ts'
import type { Databases, Engine, Filled } from './databases.ts'
import { inTurn, latency, median, type Request } from './load.ts'
import { head, line, quotients, whole } from './record.ts'
import { startRapport } from './servers.ts'
import { memory } from './start.ts'

// Bookings with and without mails, mails beside nodemailer alone, and feeds of calendars.

const half_hour_ms = 30 * 60_000
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const from = 'crm@example.com'
const feed_entries = 5000

/** An SMTP server that takes all mails, and one that never answers. */
async function startSmtp() {
  let accepted = 0
  const well = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onData(stream, _, done) {
      stream
        .on('data', () => {})
        .once('end', () => {
          accepted++
          done()
        })
    },
  })
  const sockets = new Set<Socket>()
  const hanging = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
  })
  const listening = [well.server, hanging].map((server) => once(server, 'listening'))
  well.listen(0, '127.0.0.1')
  hanging.listen(0, '127.0.0.1')
  await Promise.all(listening)
  const portOf = (server: { address(): unknown }) => (server.address() as { port: number }).port
  return {
    port: portOf(well.server),
    urls: { well: `smtp://127.0.0.1:${portOf(well.server)}`, hanging: `smtp://127.0.0.1:${portOf(hanging)}` },
    accepted: () => accepted,
    close() {
      well.close(() => {})
      hanging.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Extent = { rounds: number; seconds: number; mails: number }

/** Returns the table of ratios. */
export async function measureMail(databases: Databases, engine: Engine, extent: Extent): Promise<string[]> {
  const smtp = await startSmtp()
  try {
    const lines = head('what', 'beside', 'with', 'ratio (median)')
    lines.push(...(await measureBookings(databases, smtp.urls, extent)))
    lines.push(await measureSending(databases, engine, smtp, extent))
    lines.push(await measureFeeds(databases, engine, extent))
    lines.push(await measureSlots(databases, extent))
    return lines
  } finally {
    smtp.close()
  }
}

const env_of_visitors = {
  BOOKING_RATE_PER_SECOND: '0',
  OPEN_RATE_PER_SECOND: '0',
  TRUSTED_PROXIES: '127.0.0.0/8',
}

async function measureBookings(
  databases: Databases,
  urls: { well: string; hanging: string },
  { rounds, seconds }: Extent,
): Promise<string[]> {
  const plain = await databases.fill('mail', 1000)
  const envs = {
    without: {},
    well: { SMTP_URL: urls.well, MAIL_FROM: from },
    hanging: { SMTP_URL: urls.hanging, MAIL_FROM: from },
  }
  const sides = ['without', 'well', 'hanging'] as const
  const servers = {} as Record<(typeof sides)[number], Awaited<ReturnType<typeof startRapport>>>
  const idle = {} as Record<(typeof sides)[number], number>
  for (const side of sides) {
    const filled = side === 'without' ? plain : await databases.copy(plain, `mail_${side}`)
    servers[side] = await startRapport({
      ...filled,
      env: { ...filled.env, ...env_of_visitors, ...envs[side] },
    })
    await makePage(servers[side].port, plain.key)
    idle[side] = memory(servers[side], 'RssAnon')
  }
  let n = 0
  const first_ms = Math.ceil((Date.now() + 24 * 3_600_000) / half_hour_ms) * half_hour_ms
  const book = (): Request => {
    n++
    const form = new URLSearchParams({
      first_name: 'Ana',
      last_name: 'Ruiz',
      email: `visitor${n}@example.com`,
      slot: new Date(first_ms + (n % 30_000) * half_hour_ms).toISOString(),
    })
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Forwarded-For': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
    }
    return { method: 'POST', path: '/book/bench', headers, body: String(form) }
  }
  const took = await inTurn(sides, rounds, (side) =>
    latency(servers[side].port, { clients: 1, seconds }, book),
  )
  const ms = (list: readonly number[]) => `${median(list).toFixed(1)} ms`
  const mib = (size: number) => `${size.toFixed(1)} MiB`
  for (const side of sides) await servers[side].stop()
  return [
    line(
      ['a booking with mail, beside one without SMTP_URL', ms(took.without), ms(took.well)],
      quotients(took.well, took.without),
      { most: 1.15 },
    ),
    line(
      ['a booking while the SMTP server hangs, beside a healthy one', ms(took.well), ms(took.hanging)],
      quotients(took.hanging, took.well),
      { most: 1.05 },
    ),
    line(
      ['memory of an idle process with SMTP_URL, beside without', mib(idle.without), mib(idle.well)],
      [idle.well - idle.without],
      { most: 3 },
      mib,
    ),
  ]
}

async function makePage(port: number, key: string, fields: object = {}): Promise<void> {
  const body = {
    slug: 'bench',
    title: 'Demo',
    time_zone: 'UTC',
    availability: Object.fromEntries(days.map((day) => [day, [{ from: '00:00', to: '24:00' }]])),
    minimum_notice_minutes: 0,
    horizon_days: 730,
    open_bookings_per_email: 1000,
    bookings_per_address_per_day: 10_000,
    bookings_per_hour: 10_000,
    ...fields,
  }
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/booking-pages`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.status !== 201) throw new Error(await answer.text())
}

const onDatabase = async <T>({ env }: Filled, work: (db: Db) => Promise<T>): Promise<T> => {
  const database = await openDatabase(readConfig(env))
  try {
    return await work(database.db)
  } finally {
    await database.close()
  }
}

/** Mails per second of the outbox, and of nodemailer alone with two connections to the same server. */
async function measureSending(
  databases: Databases,
  _: Engine,
  smtp: Awaited<ReturnType<typeof startSmtp>>,
  { rounds, mails }: Extent,
): Promise<string> {
  const filled = await databases.fill('sending', 1000)
  const clock = { now: () => Date.now(), elapsed: () => Math.round(performance.now()) }
  const seal = createSeal('a key for the bench')
  const content = () => ({
    subject: 'A mail',
    blocks: Array.from({ length: 5 }, () => ({ text: 'Some words of a mail. '.repeat(10) })),
  })
  const rates = await onDatabase(filled, async (db) => {
    const mailing = {
      configured: true,
      seal,
      mac: seal.mac,
      address: from,
      base: () => 'http://127.0.0.1:3000',
      mailNotices: async () => {},
    }
    setMailing(db, mailing)
    const server = { host: '127.0.0.1', port: smtp.port, secure: false, auth: null }
    const onError = (error: unknown) => {
      throw error
    }
    const mailer = createMailer({
      ...{ db, clock, seal, mailing, onError },
      from: { name: '', address: from },
      reply_to: null,
      retry_delays: [1],
      smtp: createSmtp({ server, timeout_ms: 10_000 }),
    })
    const { createTransport } = (await import('nodemailer')).default
    const alone = createTransport({
      host: '127.0.0.1',
      port: smtp.port,
      pool: true,
      maxConnections: senders,
    } as never)
    const result = await inTurn(['alone', 'rapport'], rounds, async (side) => {
      if (side === 'rapport')
        await transaction(db, async (tx) => {
          const context = contextOf(clock, { workspace_id: 1, actor: service, request_id: null })
          for (let n = 0; n < mails; n++)
            writeMail(tx, context, { kind: 'test', recipient: `to${n}@example.com`, language: 'en', content })
        })
      const before = smtp.accepted()
      const began = performance.now()
      if (side === 'rapport') {
        const { signal } = new AbortController()
        await Promise.all(Array.from({ length: senders }, (__, n) => mailer.sendDue(n, signal)))
      } else {
        const text = content()
          .blocks.map((block) => block.text)
          .join('\n\n')
        await Promise.all(
          Array.from({ length: mails }, (__, n) =>
            alone.sendMail({
              from,
              to: `to${n}@example.com`,
              subject: 'A mail',
              text,
              html: `<p>${text}</p>`,
            }),
          ),
        )
      }
      const count = smtp.accepted() - before
      if (count !== mails) throw new Error(`${side}: of ${mails} mails, ${count} came.`)
      return (mails / (performance.now() - began)) * 1000
    })
    alone.close()
    mailer.close()
    return result
  })
  return line(
    ['mails per second, beside nodemailer alone', whole(median(rates.alone)), whole(median(rates.rapport))],
    quotients(rates.rapport, rates.alone),
    { least: 0.5 },
  )
}

/** A 304 of a feed beside its full answer. */
async function measureFeeds(databases: Databases, _: Engine, { rounds, seconds }: Extent): Promise<string> {
  const filled = await databases.fill('feeds', 1000)
  const token = 'f'.repeat(43)
  const now = new Date().toISOString()
  await onDatabase(filled, (db) =>
    transaction(db, async (tx) => {
      const user = {
        id: 'usr_bench',
        name: 'Bench',
        email: 'bench@example.com',
        email_key: 'bench@example.com',
      }
      await tx
        .insertInto('users')
        .values({ ...user, password_hash: '', created_at: now, updated_at: now } as never)
        .execute()
      const member = { workspace_id: 1, user_id: user.id }
      await tx
        .insertInto('memberships')
        .values({ ...member, role: 'member', created_at: now, entered_at: now })
        .execute()
      const feed = { ...member, id: 'feed_bench', hash: hashToken(token), name: 'Bench' }
      await tx
        .insertInto('calendar_feeds')
        .values({ ...feed, activities: 'none', details: 'full', created_at: now })
        .execute()
      const at = (n: number) => new Date(Date.parse(now) + n * half_hour_ms).toISOString()
      for (let n = 0; n < feed_entries; n += 100)
        await tx
          .insertInto('appointments')
          .values(
            Array.from({ length: 100 }, (__, one) => ({
              workspace_id: 1,
              title: `Demo ${n + one}`,
              start_at: at(n + one),
              end_at: at(n + one + 1),
              status: 'scheduled',
              owner_id: user.id,
              created_at: now,
              updated_at: now,
            })) as never,
          )
          .execute()
    }),
  )
  const server = await startRapport({ ...filled, env: { ...filled.env, ...env_of_visitors } })
  const path = `/ics/${token}.ics`
  const { headers, status } = await fetch(`http://127.0.0.1:${server.port}${path}`)
  if (status !== 200) throw new Error(`The feed is ${status}.`)
  const known = { 'If-None-Match': headers.get('etag') ?? '' }
  const took = await inTurn(['full', 'same'], rounds, (side) =>
    latency(server.port, { clients: 1, seconds }, () => ({
      method: 'GET',
      path,
      ...(side === 'same' && { headers: known }),
    })),
  )
  await server.stop()
  const ms = (list: readonly number[]) => `${median(list).toFixed(1)} ms`
  return line(
    [`a 304 of a feed, beside its ${whole(feed_entries)} entries`, ms(took.full), ms(took.same)],
    quotients(took.same, took.full),
    { most: 0.2 },
  )
}

const hosts = 10
const periods = 5000

/** The slots of a page with hosts who have calendars, beside those of a page without hosts. */
async function measureSlots(databases: Databases, { rounds, seconds }: Extent): Promise<string> {
  const filled = await databases.fill('hosts', 1000)
  const now = new Date().toISOString()
  const quarter_ms = 15 * 60_000
  const at = (n: number) =>
    new Date(Math.ceil(Date.now() / quarter_ms) * quarter_ms + n * quarter_ms).toISOString()
  const seal = createSeal(readSecretKey(null, filled.env.DATA_DIR ?? ''))
  const url = seal.seal('https://calendar.example/bench.ics')
  const ids = Array.from({ length: hosts }, (_, n) => `usr_bench${n}`)
  await onDatabase(filled, (db) =>
    transaction(db, async (tx) => {
      for (const [n, user_id] of ids.entries()) {
        const email = `host${n}@example.com`
        const user = { id: user_id, name: `Host ${n}`, email, email_key: email, password_hash: '' }
        await tx
          .insertInto('users')
          .values({ ...user, created_at: now, updated_at: now } as never)
          .execute()
        const member = { workspace_id: 1, user_id }
        await tx
          .insertInto('memberships')
          .values({ ...member, role: 'member', created_at: now, entered_at: now })
          .execute()
        const id = `busy_bench${n}`
        await tx
          .insertInto('busy_calendars')
          .values({
            ...member,
            id,
            name: 'Bench',
            url,
            poll_minutes: 15,
            stale_after_minutes: 120,
            created_at: now,
            run_at_ms: 1e15,
            generation: 1,
          })
          .execute()
        // Quarters of hours over 208 days, with pauses of an hour, at other times for each host.
        for (let period = 0; period < periods; period += 100)
          await tx
            .insertInto('busy_periods')
            .values(
              Array.from({ length: 100 }, (__, one) => {
                const from = (period + one) * 4 + (n % 4)
                const times = { start_at: at(from), end_at: at(from + 1) }
                return { workspace_id: 1, calendar_id: id, generation: 1, ...times }
              }),
            )
            .execute()
      }
    }),
  )
  const server = await startRapport({ ...filled, env: { ...filled.env, ...env_of_visitors } })
  await makePage(server.port, filled.key)
  const assigned = { assignment: 'round_robin', hosts: ids.map((user_id) => ({ user_id })) }
  await makePage(server.port, filled.key, { slug: 'hosts', ...assigned })
  const slugs = { alone: 'bench', hosts: 'hosts' }
  const took = await inTurn(['alone', 'hosts'], rounds, (side) =>
    latency(server.port, { clients: 1, seconds }, () => ({
      method: 'GET',
      path: `/book/${slugs[side]}/slots`,
    })),
  )
  await server.stop()
  const ms = (list: readonly number[]) => `${median(list).toFixed(1)} ms`
  return line(
    [
      `slots of a week with ${hosts} hosts and their calendars of ${whole(periods)} periods, beside no hosts`,
      ms(took.alone),
      ms(took.hosts),
    ],
    quotients(took.hosts, took.alone),
    { most: 3 },
  )
}
