import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { isoTime } from '../clock.ts'
import { firstSign, judge, type Known, type Reading, type Sign } from './clock-sign.ts'
import { type Database, type Db, transaction } from './db.ts'

/** In place of the machine's clocks, for tests; `boot` names the time since the machine's last start. */
export type GivenClock = Clock & { boot?: string }

export type ServiceClock = Clock & {
  /** Whether what is old may be removed for good now. Looks at the clock and at the sign of life first. */
  mayRemove(): Promise<boolean>
  /** For /metrics: whether removal waits, and how often it was put off. */
  removal(): { held: boolean; put_off: number }
  /** Believes the clock as it is: an administrator's word. */
  confirm(): Promise<void>
  /** Why removal waits and until when, as people read it; null when it does not. */
  waiting(): { reason: string; until: string } | null
  /** Finds out whether somebody has set the clock, and renews the sign of life. */
  look(): Promise<void>
}

type Options = {
  given?: GivenClock | undefined
  logger?: { error(details: object, text: string): void } | undefined
}

// Below the period of the looks.
const renew_after_ms = 8000
const remind_every_ms = 3600 * 1000
// A reading of the server's clock that took longer says too little about when it was made.
const longest_reading_ms = 250
const most_tries = 5

/**
 * Service time, kept in the database (see clock-sign.ts). A service looks at the clock every 10 s (jobs/jobs.ts).
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

  async function read() {
    const before_ms = steady()
    const { text, server_ms } = await readSign(db, database.engine)
    const after_ms = steady()
    const ours = given || server_ms === null
    const now: Reading = {
      wall_ms: ours ? wall.now() : server_ms,
      steady_ms: ours ? after_ms : (before_ms + after_ms) / 2,
      boot,
    }
    return { text, now, slow: !ours && after_ms - before_ms > longest_reading_ms }
  }

  async function renew(confirmed: boolean): Promise<void> {
    for (let tries = 0; tries < most_tries; tries++) {
      const { text, now, slow } = await read()
      if (slow && known && !confirmed) return
      const last = text === null ? firstSign(await newestEvent(db), now) : (JSON.parse(text) as Sign)
      const judged = judge(last, known, now)
      const next = confirmed ? { ...judged.sign, held_until_ms: 0, reason: null } : judged.sign
      if (text === null || confirmed || isNews(last, next)) {
        if (!(await writeSign(db, text, JSON.stringify(next)))) continue
      }
      sign = next
      known = { elapsed_ms: judged.elapsed_ms, steady_ms: now.steady_ms, offset_ms: next.offset_ms }
      remind()
      return
    }
    throw new Error('The sign of life could not be renewed: other processes were faster each time.')
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
      `${held.reason} Nothing is removed for good before ${held.until}. Set the clock right; if it is right, run: rapport clock confirm`,
    )
  }

  await look()
  return {
    now: wall.now,
    elapsed,
    async mayRemove() {
      await look()
      if (isHeld()) put_off++
      return !isHeld()
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

/** Takes the place of the sign that was read; false when another process was faster. */
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
            .where('name', '=', 'clock')
            .where('value', '=', before)
            .executeTakeFirst()
    return (
      Number('numInsertedOrUpdatedRows' in done ? done.numInsertedOrUpdatedRows : done.numUpdatedRows) > 0
    )
  })

// A database of an older version was alive then.
async function newestEvent(db: Db): Promise<number | null> {
  const newest = await db
    .selectFrom('events')
    .select('occurred_at')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest ? Date.parse(newest.occurred_at) : null
}

// The same for all processes on a machine until it starts anew; null where no system tells it.
function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null
  }
}

const boot_to_start_ms = Number(process.hrtime.bigint() / 1000n) / 1000 - performance.now()
/** Milliseconds since the machine's start, on Linux without those in which it slept. */
const sinceBoot = () => boot_to_start_ms + performance.now()
