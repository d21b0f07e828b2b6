import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { isoTime } from '../clock.ts'
import { command } from '../installed.ts'
import { type ClockReading, firstSign, judge, type Known, type Sign } from './clock-sign.ts'
import { type Database, type Db, transaction } from './db.ts'

/** Replaces the machine's clocks in tests. `boot` identifies a start of the machine. */
export type GivenClock = Clock & { boot?: string }

export type ServiceClock = Clock & {
  /** Whether old rows may be removed now. Reads the clock and the sign of life first. */
  mayRemove(): Promise<boolean>
  /** For /metrics: whether removal is held, and how often it was postponed. */
  removal(): { held: boolean; put_off: number }
  /** Ends the hold of removal: an administrator has checked the clock. */
  confirm(): Promise<void>
  /** Why removal is held and until when (ISO text); null when it is not held. */
  waiting(): { reason: string; until: string } | null
  /** Reads the clock, detects whether somebody has set it, and renews the sign of life. */
  look(): Promise<void>
}

type Options = {
  given?: GivenClock | undefined
  logger?: { error(details: object, text: string): void } | undefined
}

// Shorter than the 10 s between two readings (jobs/jobs.ts).
const renew_after_ms = 8000
const remind_every_ms = 3600 * 1000
// The time of a slower reading of the server's clock is not known precisely enough.
const max_reading_ms = 250
const max_tries = 5
// A smaller difference may be that of two readings.
const set_from_ms = 1000

/**
 * Service time, kept in the database (see clock-sign.ts). A service calls `look` every 10 s (jobs/jobs.ts). Each reading
 * detects whether somebody has set the clock.
 */
export async function keepServiceClock(database: Database, options: Options = {}): Promise<ServiceClock> {
  const { given, logger } = options
  const { db } = database
  const wall = given ?? database.clock
  const boot = given ? (given.boot ?? 'given') : bootId()
  const steady = given ? given.elapsed : sinceBoot
  let known: Known | null = null
  let sign: Sign | null = null
  let put_off = 0
  let reminded_ms = -Infinity
  // The wall clock at the last reading, less the steady one.
  let wall_offset_ms = Number.NaN

  async function read() {
    const before_ms = steady()
    const { text, server_ms } = await readSign(db, database.engine)
    const after_ms = steady()
    const ours = given || server_ms === null
    const wall_ms = wall.now()
    const now: ClockReading = {
      wall_ms: ours ? wall_ms : server_ms,
      steady_ms: ours ? after_ms : (before_ms + after_ms) / 2,
      boot,
    }
    const read_offset_ms = wall_ms - after_ms
    return { text, now, read_offset_ms, slow: !ours && after_ms - before_ms > max_reading_ms }
  }

  async function renew(confirmed: boolean): Promise<void> {
    for (let tries = 0; tries < max_tries; tries++) {
      const { text, now, read_offset_ms, slow } = await read()
      if (slow && known && !confirmed) return
      const last = text === null ? firstSign(await newestEvent(db), now) : (JSON.parse(text) as Sign)
      const judged = judge(last, known, now)
      const next = confirmed ? { ...judged.sign, held_until_ms: 0, reason: null } : judged.sign
      if (text === null || confirmed || isNews(last, next)) {
        if (!(await writeSign(db, text, JSON.stringify(next)))) continue
      }
      sign = next
      known = { elapsed_ms: judged.elapsed_ms, steady_ms: now.steady_ms, offset_ms: next.offset_ms }
      wall_offset_ms = read_offset_ms
      remind()
      return
    }
    throw new Error(
      'The sign of life was not renewed: other processes changed it in each of 5 tries. It is retried.',
    )
  }

  let looking: Promise<void> | null = null
  function look(): Promise<void> {
    looking ??= renew(false).finally(() => {
      looking = null
    })
    return looking
  }

  function elapsed(): number {
    const { elapsed_ms, steady_ms } = known as Known
    return Math.floor(elapsed_ms + steady() - steady_ms)
  }
  const isHeld = () => elapsed() < (sign as Sign).held_until_ms

  function waiting() {
    const { held_until_ms, offset_ms, reason } = sign as Sign
    return isHeld() ? { reason: reason ?? '', until: isoTime(held_until_ms + offset_ms) } : null
  }

  function remind() {
    const held = waiting()
    if (!held || steady() - reminded_ms < remind_every_ms) return
    reminded_ms = steady()
    logger?.error(
      held,
      `${held.reason} Nothing is removed for good before ${held.until}. Set the clock right; if it is right, run: ${command('clock confirm')}`,
    )
  }

  /** Whether somebody has set the clock since the last reading. */
  const isSet = () => Math.abs(wall.now() - steady() - wall_offset_ms) > set_from_ms

  await look()
  return {
    now: wall.now,
    elapsed,
    async mayRemove() {
      await look()
      // The caller reads the clock next, so the reading must be of this moment.
      const may = !isHeld() && !isSet()
      if (!may) put_off++
      return may
    },
    removal: () => ({ held: isHeld(), put_off }),
    async confirm() {
      await looking
      await renew(true)
    },
    waiting,
    look,
  }
}

const isNews = (last: Sign, next: Sign) =>
  last.offset_ms !== next.offset_ms ||
  last.held_until_ms !== next.held_until_ms ||
  Math.abs(next.wall_ms - last.wall_ms) >= renew_after_ms

async function readSign(db: Db, engine: Database['engine']) {
  const server =
    engine === 'postgres' ? sql`(extract(epoch FROM clock_timestamp()) * 1000)::float8` : sql`NULL`
  const { rows } = await sql<{ text: string | null; server_ms: number | null }>`
    SELECT (SELECT value FROM settings WHERE name = 'clock') AS text, ${server} AS server_ms`.execute(db)
  const { text = null, server_ms = null } = rows[0] ?? {}
  return { text, server_ms: server_ms === null ? null : Number(server_ms) }
}

/** Replaces the sign of life that was read. False when another process has replaced it first. */
const writeSign = (db: Db, before: string | null, value: string): Promise<boolean> =>
  transaction(db, async (tx) => {
    const row = { name: 'clock', value }
    const done =
      before === null
        ? await tx
            .insertInto('settings')
            .values(row)
            .onConflict((conflict) => conflict.doNothing())
            .executeTakeFirst()
        : await tx
            .updateTable('settings')
            .set({ value })
            .where((eb) => eb.and({ name: 'clock', value: before }))
            .executeTakeFirst()
    return (
      Number('numInsertedOrUpdatedRows' in done ? done.numInsertedOrUpdatedRows : done.numUpdatedRows) > 0
    )
  })

// Stands in for the sign of life on a database of an older version.
async function newestEvent(db: Db): Promise<number | null> {
  const newest = await db
    .selectFrom('events')
    .select('occurred_at')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest ? Date.parse(newest.occurred_at) : null
}

// The same for all processes until the machine reboots; null where the system has no such id.
function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null
  }
}

const boot_to_start_ms = Number(process.hrtime.bigint() / 1000n) / 1000 - performance.now()
/** Milliseconds since the machine's start. On Linux, time in suspend does not count. */
const sinceBoot = () => boot_to_start_ms + performance.now()
