import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Clock, isoTime, momentOf, shownTime } from '../clock.ts'
import type { CalendarRow } from '../db/busy.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import { rowLock } from '../db/locks.ts'
import type { Seal } from '../db/seal.ts'
import { isAnyOf, listParameter, prepareRows } from '../db/statements/recordset.ts'
import { uidOfAppointment } from '../resources/appointments/bookings.ts'
import type { FetchError, FetchOptions, Validators } from './fetch.ts'
import { merged, type Period } from './periods.ts'
import type { BusyTimes } from './read.ts'
import { readCalendar } from './reader.ts'

export type PollerOptions = {
  db: Db
  clock: Clock
  seal: Seal
  /** How calendars are fetched. */
  fetching: FetchOptions
  /** The folder of the system's zone data. */
  zone_folder: string
}
export type Poller = ReturnType<typeof createPoller>

// The polls that a process makes at the same time: one calendar that hangs must not delay the others.
const at_once = 8
// The time between two queries for a due calendar while polls run.
const look_ms = 40

// 30 s for the file, 20 s for its reading, and the writes.
const lease_ms = 75_000
const minute_ms = 60_000
const hour_ms = 60 * minute_ms
const past_ms = 24 * hour_ms
const ahead_ms = 732 * 24 * hour_ms
// An unchanged file is read again after a day: repeated events go on, and the window moves.
const whole_every_ms = 24 * hour_ms
// The periods that one transaction writes.
const slice = 500
const most_periods = 10_000

type Claim = CalendarRow & { claim_id: string; addresses: string[]; zone: string }
type Changes = Partial<CalendarRow>
type Result = { unchanged: true } | { error: FetchError } | { times: BusyTimes; validators: Validators }

/** The changes after a failed attempt. The next one comes later and later, and after an hour at most. */
const failed = ({ failures }: Claim, { code, message }: FetchError, elapsed_ms: number): Changes => ({
  error_code: code,
  error_message: message.slice(0, 1000),
  failures: Number(failures) + 1,
  run_at_ms: elapsed_ms + Math.min(hour_ms, minute_ms * 2 ** Math.min(10, Number(failures))),
})

/** Reads busy calendars when they are due, each by the lease of one process. */
export function createPoller({ db, clock, seal, fetching, zone_folder }: PollerOptions) {
  async function poll(claim: Claim, stopping: AbortSignal): Promise<void> {
    const started_ms = clock.elapsed()
    const result = await attempt(claim, stopping)
    // It stays due, for another process or the next start.
    if ('error' in result && stopping.aborted) return end(claim, { run_at_ms: started_ms })
    const attempted_at = shownTime(started_ms, momentOf(clock))
    if ('error' in result)
      return end(claim, { last_attempt_at: attempted_at, ...failed(claim, result.error, clock.elapsed()) })
    const read = {
      last_attempt_at: attempted_at,
      last_read_at: attempted_at,
      last_read_ms: started_ms,
      stale_since: null,
      error_code: null,
      error_message: null,
      failures: 0,
      run_at_ms: clock.elapsed() + Number(claim.poll_minutes) * minute_ms,
    }
    if ('unchanged' in result) return end(claim, read)
    const { times, validators } = result
    const stored = await store(claim, times)
    if (!stored) return
    const { skipped, skipped_count } = times
    const seen = { ...validators, expanded_ms: started_ms, skipped: JSON.stringify(skipped), skipped_count }
    await end(claim, { ...read, ...seen, ...stored })
  }

  async function attempt(claim: Claim, stopping: AbortSignal): Promise<Result> {
    const { username } = claim
    const is_fresh =
      claim.expanded_ms !== null && clock.elapsed() - Number(claim.expanded_ms) < whole_every_ms
    const { etag, last_modified } = is_fresh ? claim : { etag: null, last_modified: null }
    const url = seal.open(claim.url)
    const password = claim.password === null ? null : seal.open(claim.password)
    // The HTTP client is loaded with the first poll.
    const { fetchCalendar } = await import('./fetch.ts')
    const asked = { url, username, password, etag, last_modified }
    const found = await fetchCalendar(asked, fetching, stopping)
    if (found === 'not modified') return { unchanged: true }
    if ('error' in found) return found
    const now_ms = clock.now()
    const reading = await readCalendar(
      {
        text: found.text,
        zone_folder,
        time_zone: claim.zone,
        addresses: claim.addresses,
        from_ms: now_ms - past_ms,
        to_ms: now_ms + ahead_ms,
      },
      stopping,
    )
    if ('refused' in reading) return { error: { code: reading.refused, message: refusals[reading.refused] } }
    return { times: reading.times, validators: found.validators }
  }

  /** Writes the periods as a new generation; null if another process has the calendar, or its address changed. */
  async function store(claim: Claim, times: BusyTimes): Promise<Changes | null> {
    const { workspace_id, id } = claim
    const foreign = await withoutOwn(db, workspace_id, times)
    const digest = createHash('sha256').update(JSON.stringify(foreign)).digest('base64')
    if (digest === claim.digest) return {}
    const generation = Number(claim.generation) + 1
    const key = sql`workspace_id = ${workspace_id} AND calendar_id = ${id}`
    // A poll that a crash ended may have left some.
    const clean = (tx: Tx) =>
      sql`DELETE FROM busy_periods WHERE ${key} AND generation <> ${claim.generation}`.execute(tx)
    for (let at = 0; at === 0 || at < foreign.length; at += slice) {
      const rows = foreign.slice(at, at + slice).map(({ start_ms, end_ms }) => ({
        workspace_id,
        calendar_id: id,
        generation,
        start_at: isoTime(start_ms),
        end_at: isoTime(end_ms),
      }))
      const mine = await transaction(db, async (tx) => {
        if (!(await isMine(tx, claim))) return false
        if (at === 0) await clean(tx)
        if (rows.length) await addPeriods(tx, rows, {})
        return true
      })
      if (!mine) return null
    }
    return { generation, digest, busy_count: foreign.length }
  }

  async function end(claim: Claim, changes: Changes): Promise<void> {
    const { workspace_id, id, claim_id } = claim
    await transaction(db, async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable('busy_calendars')
        .set({ ...changes, claim_id: null })
        .where((eb) => eb.and({ workspace_id, id, claim_id }))
        .executeTakeFirst()
      if (numUpdatedRows > 0n && changes.generation !== undefined)
        await sql`DELETE FROM busy_periods WHERE workspace_id = ${workspace_id} AND calendar_id = ${id}
          AND generation < ${changes.generation}`.execute(tx)
    })
  }

  const nextDue = async (without: string[]): Promise<Claim | null> =>
    (await anyDue(db, clock.elapsed(), without))
      ? transaction(db, (tx) => claimNext(tx, clock.elapsed(), { without }))
      : null

  return {
    /** Polls calendars, several at once, until none is due. After an error it starts none, and throws the error at its end. */
    async pollDue(stopping: AbortSignal): Promise<void> {
      const running = new Map<Promise<unknown>, string>()
      // The people with two polls get no third one: their calendars that hang must leave places for those of others. The rows
      // do not tell, because a change of a calendar or a profile ends the claim of a poll that goes on.
      const full = () => [...running.values()].filter((person, n, all) => all.indexOf(person) < n)
      const errors: unknown[] = []
      const keep = (error: unknown) => void errors.push(error)
      for (;;) {
        const starts = !stopping.aborted && !errors.length && running.size < at_once
        const claim = starts ? await nextDue(full()).catch(keep) : null
        if (claim) {
          const one = poll(claim, stopping)
            .catch(keep)
            .finally(() => running.delete(one))
          running.set(one, claim.user_id)
        } else if (running.size)
          await Promise.race([...running.keys(), pause(look_ms, undefined, { ref: false })])
        else break
      }
      if (errors.length) throw errors[0]
    },
    /** Polls a calendar now. If a poll of it runs, waits for the end of that one. */
    async pollNow(workspace_id: number, id: string, stopping: AbortSignal): Promise<void> {
      const claim = await transaction(db, (tx) =>
        claimNext(tx, clock.elapsed(), { given: { workspace_id, id } }),
      )
      if (claim) return poll(claim, stopping)
      const until_ms = clock.elapsed() + lease_ms
      while (
        !stopping.aborted &&
        clock.elapsed() < until_ms &&
        (await isClaimed(db, workspace_id, id, clock.elapsed()))
      )
        await pause(200)
    },
  }
}

const refusals = {
  invalid_calendar: 'The answer is not an iCalendar file. Use the address of an .ics file.',
  too_large: 'The calendar has more than 20,000 components, or needs too much memory.',
  timeout: 'The calendar could not be read within 20 s.',
}

const addPeriods = prepareRows(
  {
    workspace_id: 'bigint!',
    calendar_id: 'text!',
    generation: 'bigint!',
    start_at: 'text!',
    end_at: 'text!',
  },
  ({ row, values }) => sql`INSERT INTO busy_periods (workspace_id, calendar_id, generation, start_at, end_at)
    ${values([row.workspace_id, row.calendar_id, row.generation, row.start_at, row.end_at])}`,
)

/** The calendars that are due, but for those of some people. */
const due = (db: Db, elapsed_ms: number, without: string[]) =>
  db
    .selectFrom('busy_calendars')
    .where('run_at_ms', '<=', elapsed_ms)
    .$if(without.length > 0, (found) => found.where('user_id', 'not in', without))

const anyDue = async (db: Db, elapsed_ms: number, without: string[]) =>
  (await due(db, elapsed_ms, without).select('id').limit(1).executeTakeFirst()) !== undefined

async function isClaimed(db: Db, workspace_id: number, id: string, elapsed_ms: number): Promise<boolean> {
  const row = await db
    .selectFrom('busy_calendars')
    .select('claim_id')
    .where((eb) => eb.and({ workspace_id, id }))
    .where('run_at_ms', '>', elapsed_ms)
    .executeTakeFirst()
  return typeof row?.claim_id === 'string'
}

/** Whether the lease is still that of a claim. A new address ends it. */
async function isMine(tx: Tx, { workspace_id, id, claim_id }: Claim): Promise<boolean> {
  const row = await tx
    .selectFrom('busy_calendars')
    .select('claim_id')
    .where((eb) => eb.and({ workspace_id, id, claim_id }))
    .modifyEnd(rowLock(tx, 'FOR UPDATE'))
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Takes the lease of the calendar that is due longest, those that failed last. Or of a given one that nobody polls. Null: there
 * is none.
 */
async function claimNext(
  tx: Tx,
  elapsed_ms: number,
  { given, without = [] }: { given?: { workspace_id: number; id: string }; without?: string[] },
): Promise<Claim | null> {
  const wanted = given
    ? tx
        .selectFrom('busy_calendars')
        .where((eb) => eb.and(given))
        .where((eb) => eb.or([eb('claim_id', 'is', null), eb('run_at_ms', '<=', elapsed_ms)]))
    : due(tx, elapsed_ms, without).orderBy('failures').orderBy('run_at_ms').limit(1)
  const row = await wanted
    .selectAll()
    .modifyEnd(rowLock(tx, given ? 'FOR UPDATE' : 'FOR UPDATE SKIP LOCKED'))
    .executeTakeFirst()
  if (!row) return null
  const claim_id = newId('clm')
  const { workspace_id, id } = row
  await tx
    .updateTable('busy_calendars')
    .set({ claim_id, run_at_ms: elapsed_ms + lease_ms })
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
  const person = await tx
    .selectFrom('users')
    .select(['email', 'time_zone'])
    .where('id', '=', row.user_id)
    .executeTakeFirst()
  return {
    ...row,
    claim_id,
    addresses: person ? [person.email.toLowerCase()] : [],
    zone: row.time_zone ?? person?.time_zone ?? 'UTC',
  }
}

/** The times of all events but the appointments of this workspace, which its own table has. */
async function withoutOwn(db: Db, workspace_id: number, { periods, rapport }: BusyTimes): Promise<Period[]> {
  const own = new Set<string>()
  for (let at = 0; at < rapport.length; at += slice) {
    const some = rapport.slice(at, at + slice)
    const uids = some.map(({ uid }) => uid)
    const starts = some.flatMap((one) => one.periods).map(({ start_ms }) => isoTime(start_ms))
    // An appointment that members made has no booking before its first change. Until then, it is at the time of its file.
    const { rows } = await sql<{ uid: string | null; id: number | null }>`
      SELECT uid, NULL AS id FROM bookings
      WHERE workspace_id = ${workspace_id} AND ${isAnyOf(db, 'uid', listParameter(db, uids), 'text')}
      UNION ALL SELECT NULL, id FROM appointments
      WHERE workspace_id = ${workspace_id} AND ${isAnyOf(db, 'start_at', listParameter(db, starts), 'text')}
        AND deleted_at IS NULL`.execute(db)
    for (const { uid, id } of rows) own.add(uid ?? uidOfAppointment(workspace_id, Number(id)))
  }
  const foreign = rapport.filter(({ uid }) => !own.has(uid)).flatMap((one) => one.periods)
  return foreign.length ? merged([...periods, ...foreign]).slice(0, most_periods) : periods
}
