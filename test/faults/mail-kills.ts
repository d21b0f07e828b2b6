import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ana, type Made, makePage, visitor } from '../booking.ts'
import { calendarFile, startCalendars } from '../calendar-server.ts'
import { client } from '../harness.ts'
import { mailSettings } from '../mails.ts'
import { ask, type Browser, browser, join } from '../people.ts'
import { firstKey, scratchFolder, serveProcess } from '../process.ts'
import { settableClock } from '../set-clock.ts'
import { startSmtpServer } from '../smtp-server.ts'
import { useFor } from '../use.ts'
import { until } from '../webhooks.ts'

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const always = {
  availability: Object.fromEntries(days.map((day) => [day, [{ from: '00:00', to: '24:00' }]])),
  minimum_notice_minutes: 0,
}
const minute = 60_000
const hour = 60 * minute
const slot_minutes = 5
// A night in which Berlin shows 2:30 twice: at 0:30 and at 1:30 of UTC.
const night = Date.parse('2027-10-31T00:00:00.000Z')
const digest_at = '02:30'
const reminders_minutes = [10, 40, 70, 100].map((after) => 24 * 60 - after)
const pages = 6
const digests = 3

/** Random numbers from 0 to 1 that follow from a seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

/** The periods of a version of the foreign calendar: each third half hour of 20 days. */
const periodsOf = (version: number): number[] =>
  Array.from({ length: 320 }, (_, n) => night + 48 * hour + (n * 3 + (version % 3)) * 30 * minute)
const basic = (at_ms: number) => new Date(at_ms).toISOString().replaceAll(/[-:]|\.\d+/g, '')
const fileOf = (version: number): string =>
  calendarFile(...periodsOf(version).map((at_ms) => `DTSTART:${basic(at_ms)}\nDURATION:PT20M`))

/**
 * Kills a service at random moments of bookings, of the sending of their mails, of reminders, digests and polls of a busy
 * calendar. The visitors, the SMTP server, the calendar and the check are outside of it. It is the night of a clock change, in
 * which two hours pass. Returns how many bookings were acknowledged, and how many mails came twice.
 */
export async function killMails(t: TestContext, { kills, seed }: { kills: number; seed: number }) {
  const random = randomFrom(seed)
  const server = await useFor(t, startSmtpServer())
  const calendars = await useFor(t, startCalendars())
  for (const version of [0, 1, 2]) calendars.serve(`/${version}.ics`, fileOf(version))
  const DATA_DIR = scratchFolder(t)
  const clock = await settableClock(DATA_DIR)
  const began_ms = Date.now()
  let passed_ms = 0
  const pass = (ms: number) => {
    passed_ms += ms
    return clock.set(night - began_ms + passed_ms)
  }
  const now = () => Date.now() - began_ms + night + passed_ms
  await pass(0)
  const more = {
    SMTP_TIMEOUT_MS: '10000',
    BOOKING_RATE_PER_SECOND: '0',
    OPEN_RATE_PER_SECOND: '0',
    RATE_LIMIT_PER_SECOND: '0',
    // Each visitor has a network address of their own: the limits are for others.
    TRUSTED_PROXIES: '127.0.0.0/8',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  }
  const env = { DATA_DIR, ...clock.env, ...mailSettings(server.url, more) }
  let service = await serveProcess(t, env)
  const key = firstKey(DATA_DIR)
  const api = () => client(service.url, key)
  const { people, host, page } = await prepare(service, api(), calendars.url)
  /** The person with the calendar, at the service as it is now. */
  const hosting = (): Browser => {
    const call = browser(service.url)
    call.plant(host.cookie)
    return call
  }

  const acknowledged: string[] = []
  let asked = 0
  /** Books until the service is gone. */
  async function book(): Promise<void> {
    for (;;) {
      const n = asked++
      const email = `visitor${n}@example.com`
      const slot = new Date(night + 24 * hour + Math.floor(n / pages) * slot_minutes * minute).toISOString()
      const { post } = visitor(service.url, { 'x-forwarded-for': `10.0.${n >> 8}.${n & 255}` })
      const answer = await post(`/book/demo-${n % pages}`, { ...ana, email, slot }).catch(() => null)
      if (!answer) return
      assert.equal(answer.status, 303, answer.text)
      acknowledged.push(email)
      await pause(random() * 300)
    }
  }
  let version = 0
  /** Gives the calendar another address, which is polled at once. False if the service is gone. */
  async function poll(): Promise<boolean> {
    version++
    const url = `${calendars.url}/${version % 3}.ics`
    const done = await hosting()('PUT', `/busy-calendars/${host.calendar}`, { url }).catch(() => null)
    if (done) assert.equal(done.status, 200, done.text)
    return done !== null
  }
  async function pollAlways(): Promise<void> {
    while (await poll()) await pause(random() * 200)
  }
  const checkPeriods = async () => checkWhole(await slotsOf(api(), page), `seed ${seed}`)

  for (let kill = 0; kill < kills; kill++) {
    const work = [book(), book(), pollAlways()]
    // A busy machine may need longer than all lives of the service for a booking. The first one has reminders.
    if (kill === 0)
      await until(
        async () => acknowledged.length,
        (count) => count > 0,
      )
    // The jobs of reminders and digests begin after 2 s and 5 s.
    await pause(
      kill % 3 === 0 ? random() * 1000 : kill % 3 === 1 ? 1900 + random() * 400 : 4900 + random() * 400,
    )
    service.signal('SIGKILL')
    await Promise.all([service.exited, ...work])
    await pass(Math.ceil((2 * hour) / kills))
    service = await serveProcess(t, env)
    await checkPeriods()
  }
  assert.ok(await poll())
  // A poll that failed beside much other work is repeated after a minute, then after two.
  await until(checkPeriods, (whole) => whole === version % 3, 300_000).catch(async (error) => {
    const shown = await hosting()('GET', `/busy-calendars/${host.calendar}`)
    throw new Error(`seed ${seed}: version ${version % 3} of ${shown.text}`, { cause: error })
  })
  const call = api()
  await until(async () => (await call('GET', '/api/v1/mails?status=pending&per_page=1')).body.meta.total, 0)
  const bookings = await bookingsOf(call)
  const lost = acknowledged.filter((email) => !bookings.some((one) => one.email === email))
  assert.deepEqual(lost, [], `seed ${seed}: acknowledged bookings that are gone`)
  const reminders = await checkReminders(call, bookings, now, seed)
  for (const id of people) {
    const all = await until(
      async () => (await call('GET', `/api/v1/mails?kind=daily_digest&user_id=${id}`)).body.data as Made[],
      (found) => found.length > 0,
    )
    assert.equal(all.length, 1, `seed ${seed}: digests of a day`)
  }
  await until(async () => (await call('GET', '/api/v1/mails?status=pending&per_page=1')).body.meta.total, 0)
  const twice = await checkSent(call, server.accepted, bookings, seed)
  return { bookings: bookings.length, acknowledged: acknowledged.length, reminders, twice }
}

/** The people with digests, the host with a calendar, and the pages of visitors and of the host. */
async function prepare(service: { url: string }, call: ReturnType<typeof client>, calendars_url: string) {
  const by_key = ((method, path, body) => call(method, `/api/v1${path}`, body)) as Browser
  const people: string[] = []
  for (let n = 0; n < digests; n++) {
    const one = await join(by_key, service.url, 'member')
    const mail_preferences = { daily_digest: true, daily_digest_at: digest_at, assigned: false }
    await ask(one.call, 'PUT', '/profile', { time_zone: 'Europe/Berlin', mail_preferences })
    const due_at = new Date(night - 48 * hour).toISOString()
    await ask(one.call, 'POST', '/activities', { subject: 'Call Ana', due_at, owner_id: one.id })
    people.push(one.id)
  }
  const { id, call: by } = await join(by_key, service.url, 'member')
  const made = await ask(by, 'POST', '/busy-calendars', { url: `${calendars_url}/0.ics` })
  for (let n = 0; n < pages; n++)
    await makePage(
      { call },
      { slug: `demo-${n}`, ...always, duration_minutes: slot_minutes, reminders_minutes },
    )
  const hosts = [{ user_id: id }]
  const page = await makePage({ call }, { slug: 'host', time_zone: 'UTC', ...always, hosts })
  return { people, host: { calendar: String(made.id), cookie: by.cookie() }, page }
}

const answered = async (call: ReturnType<typeof client>, path: string): Promise<Made> => {
  const { status, body, text } = await call('GET', `/api/v1${path}`)
  assert.equal(status, 200, text)
  return body
}

/** The free times of a page in the days of the foreign calendar. */
async function slotsOf(call: ReturnType<typeof client>, { id }: Made): Promise<Set<number>> {
  const [from, to] = [night + 48 * hour, night + 48 * hour + 20 * 24 * hour].map((at) =>
    new Date(at).toISOString(),
  )
  const { data } = await answered(call, `/booking-pages/${id}/slots?from=${from}&to=${to}`)
  return new Set(data.map(({ start_at }: Made) => Date.parse(start_at)))
}

/** The version whose periods take the host's times: all of them or none (null), and of no other version. */
function checkWhole(free: Set<number>, told: string): number | null {
  const taken = [0, 1, 2].map((version) => periodsOf(version).filter((at_ms) => !free.has(at_ms)).length)
  const some = taken.flatMap((count, version) => (count ? [version] : []))
  assert.ok(some.length <= 1, `${told}: periods of two versions: ${taken}`)
  const [version = null] = some
  if (version !== null)
    assert.equal(taken[version], periodsOf(version).length, `${told}: a part of the periods`)
  return version
}

type Booked = { id: number; email: string; start_ms: number; created_ms: number }

async function bookingsOf(call: ReturnType<typeof client>): Promise<Booked[]> {
  const found: Booked[] = []
  for (let number = 1, last = 1; number <= last; number++) {
    const { data, meta } = await answered(call, `/appointments?per_page=100&page=${number}`)
    last = Math.ceil(meta.total / 100)
    for (const { id, contact_id, start_at, created_at } of data) {
      const { email } = (await answered(call, `/contacts/${contact_id}`)).data
      found.push({ id, email, start_ms: Date.parse(start_at), created_ms: Date.parse(created_at) })
    }
  }
  return found
}

/** Each booking has a reminder for each of its times that has come since, and no second one. Returns how many. */
async function checkReminders(
  call: ReturnType<typeof client>,
  bookings: readonly Booked[],
  now: () => number,
  seed: number,
): Promise<number> {
  const dueOf = ({ start_ms, created_ms }: Booked, now_ms: number) =>
    reminders_minutes
      .map((minutes) => start_ms - minutes * minute)
      .filter((at_ms) => at_ms > created_ms && at_ms <= now_ms).length
  const counts = async () => {
    const found = new Map<number, number>()
    for (let number = 1, last = 1; number <= last; number++) {
      const { data, meta } = await answered(call, `/mails?kind=booking_reminder&per_page=100&page=${number}`)
      last = Math.ceil(meta.total / 100)
      for (const { record } of data) found.set(record.id, (found.get(record.id) ?? 0) + 1)
    }
    return found
  }
  // The reminders of the last minute may still come.
  const most = (found: Map<number, number>) =>
    bookings.filter((one) => (found.get(one.id) ?? 0) > dueOf(one, now()))
  const missing = (found: Map<number, number>) =>
    bookings.filter((one) => (found.get(one.id) ?? 0) < dueOf(one, now() - minute))
  const found = await until(counts, (all) => missing(all).length === 0)
  assert.deepEqual(most(found), [], `seed ${seed}: reminders that came twice`)
  return [...found.values()].reduce((sum, count) => sum + count, 0)
}

/**
 * Each booking has its mail. A mail came once, and once more for each attempt that a kill interrupted, with its Message-ID.
 * Returns how many came more than once.
 */
async function checkSent(
  call: ReturnType<typeof client>,
  accepted: readonly { to: string[]; raw: string }[],
  bookings: readonly Booked[],
  seed: number,
): Promise<number> {
  const confirmed = new Set<string>()
  const by_id = new Map<string, string[]>()
  for (const { to, raw } of accepted) {
    const [recipient = '', ...others] = to
    assert.deepEqual(others, [])
    const id = /^Message-ID: (\S+)/im.exec(raw)?.[1] ?? ''
    by_id.set(id, [...(by_id.get(id) ?? []), recipient])
    if (/text\/calendar/.test(raw)) confirmed.add(recipient)
  }
  const without = bookings.filter(({ email }) => !confirmed.has(email))
  assert.deepEqual(without, [], `seed ${seed}: bookings without a mail`)
  const known = new Set(bookings.map(({ email }) => email))
  const phantom = [...confirmed].filter((email) => !known.has(email))
  assert.deepEqual(phantom, [], `seed ${seed}: mails without a booking`)
  const repeated = [...by_id].filter(([, { length }]) => length > 1)
  for (const [message_id, { length }] of repeated) {
    const { attempts } = (await answered(call, `/mails/${message_id.slice(1).split('@')[0]}`)).data
    const interrupted = attempts.filter(({ error }: Made) => error?.code === 'interrupted')
    assert.ok(length <= 1 + interrupted.length, `seed ${seed}: ${length} mails, ${JSON.stringify(attempts)}`)
  }
  return repeated.length
}
