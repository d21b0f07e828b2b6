import { setTimeout as pause } from 'node:timers/promises'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { rowLock } from '../db/locks.ts'
import type { WorkKind, WorkTable } from '../db/work.ts'
import { ApiError } from '../errors.ts'
import { actorOf } from '../events/actors.ts'
import { type Context, contextOf } from '../events/context.ts'

type Row = Selectable<WorkTable>

/** A piece of work. The transaction of its step has locked its row. */
export type Work<P = unknown> = Pick<Row, 'workspace_id' | 'subject' | 'state' | 'created_at'> & {
  position: P
  context: Context
}

/**
 * What a step leaves: nothing, or more work. `wait_ms`: the step could do nothing, and the next one comes after this time.
 */
export type Progress<P = unknown> = 'done' | { position?: P; state?: string; wait_ms?: number }

/** A kind of work. */
export type WorkSteps<P = unknown> = {
  kind: WorkKind
  source?: Context['source']
  /** Its steps write many rows. */
  large?: boolean
  /** Does the next part, of some milliseconds, in a transaction that also stores the progress. */
  step(tx: Tx, work: Work<P>): Promise<Progress<P>>
  /** Continues after an operation refused a change. The step was rolled back. */
  refused?(tx: Tx, work: Work<P>, error: ApiError): Promise<Progress<P>>
}

type Deps = { db: Db; clock: Clock }

// Leave at least half of the time to others.
const max_pause_ms = 50
// The loop waits for work that is due within this time. The next run of the job finds other work.
const nap_ms = 100
/** How long a step waits while another transaction has what it needs. */
export const busy_ms = 50
const max_backoff_ms = 60_000

/**
 * Does the due work, a step of each kind in turn, until none is left or other processes do the rest. May be stopped between
 * two steps. Work that fails is tried again after at most a minute, and holds up no other work.
 */
export async function runWork(deps: Deps, kinds: readonly WorkSteps[], stopping: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  for (let moved = true; moved && !stopping.aborted; ) {
    const times = await dueTimes(deps.db, kinds)
    const elapsed_ms = deps.clock.elapsed()
    const next_ms = Math.min(...times.values())
    if (next_ms > elapsed_ms && next_ms <= elapsed_ms + nap_ms) await pause(next_ms - elapsed_ms + 1)
    moved = next_ms > elapsed_ms && next_ms <= deps.clock.elapsed()
    for (const steps of kinds) {
      if (stopping.aborted || (times.get(steps.kind) ?? Infinity) > elapsed_ms) continue
      const progress = await paced(() => takeStep(deps, steps, due(steps.kind, elapsed_ms))).catch(
        (error) => {
          failures.push(error)
          return null
        },
      )
      if (progress && (progress === 'done' || progress.wait_ms === undefined)) moved = true
    }
  }
  if (failures.length) throw failures[0]
}

async function paced<T>(work: () => Promise<T>): Promise<T> {
  const began_ms = performance.now()
  try {
    return await work()
  } finally {
    await pause(Math.min(performance.now() - began_ms, max_pause_ms))
  }
}

/** When the next step of each kind is due, of the kinds that have work. */
async function dueTimes(db: Db, kinds: readonly WorkSteps[]): Promise<Map<WorkKind, number>> {
  const listed = sql.join(kinds.map(({ kind }) => sql`(${sql.lit(kind)})`))
  const { rows } = await sql<{ kind: WorkKind; due_ms: number | null }>`
    SELECT k.column1 AS kind, (SELECT min(w.lease_ends_ms) FROM work AS w WHERE w.kind = k.column1) AS due_ms
    FROM (VALUES ${listed}) AS k`.execute(db)
  return new Map(rows.flatMap(({ kind, due_ms }) => (due_ms === null ? [] : [[kind, due_ms]])))
}

/** Finds and locks a row of work. */
type Choice = (tx: Tx) => RawBuilder<Row>

const due =
  (kind: WorkKind, elapsed_ms: number): Choice =>
  (tx) =>
    sql`SELECT * FROM work WHERE kind = ${kind} AND lease_ends_ms <= ${elapsed_ms}
      ORDER BY lease_ends_ms, id LIMIT 1 ${rowLock(tx, 'FOR UPDATE SKIP LOCKED')}`
const same =
  ({ workspace_id, id }: Row): Choice =>
  (tx) =>
    sql`SELECT * FROM work WHERE workspace_id = ${workspace_id} AND id = ${id} ${rowLock(tx, 'FOR UPDATE')}`

/** Does the next step of the chosen work. Null if there is none. */
async function takeStep({ db, clock }: Deps, steps: WorkSteps, choice: Choice): Promise<Progress | null> {
  let row: Row | undefined
  const run = (choose: Choice, step: (tx: Tx, work: Work) => Promise<Progress>) =>
    transaction(
      db,
      async (tx) => {
        row = (await choose(tx).execute(tx)).rows[0]
        if (!row) return null
        const progress = await step(tx, workOf(clock, steps, row))
        await store(tx, row, progress, clock.elapsed())
        return progress
      },
      { large: steps.large ?? false },
    )
  try {
    return await run(choice, (tx, work) => steps.step(tx, work))
  } catch (error) {
    if (!row) throw error
    if (error instanceof ApiError && steps.refused)
      return run(same(row), async (tx, work) => steps.refused?.(tx, work, error) ?? 'done')
    // The database may refuse this, too. Then the next run of the job tries again.
    await postpone(db, row, error, clock.elapsed()).catch(() => {})
    throw error
  }
}

function workOf(clock: Clock, { source }: WorkSteps, row: Row): Work {
  const { workspace_id, actor, request_id } = row
  const who = {
    workspace_id,
    actor: actorOf(actor),
    request_id,
    traceparent: null,
    ...(source && { source }),
  }
  return { ...row, position: JSON.parse(row.position), context: contextOf(clock, who) }
}

const where = ({ workspace_id, id }: Row) => sql`WHERE workspace_id = ${workspace_id} AND id = ${id}`

async function store(tx: Tx, row: Row, progress: Progress, elapsed_ms: number): Promise<void> {
  if (progress === 'done') {
    await sql`DELETE FROM work ${where(row)}`.execute(tx)
    return
  }
  const { position, state = row.state, wait_ms = 0 } = progress
  await sql`UPDATE work SET state = ${state}, lease_ends_ms = ${elapsed_ms + wait_ms}, attempts = 0, last_error = NULL,
      position = ${position === undefined ? row.position : JSON.stringify(position)} ${where(row)}`.execute(
    tx,
  )
}

const postpone = (db: Db, row: Row, error: unknown, elapsed_ms: number): Promise<void> =>
  transaction(db, async (tx) => {
    const attempts = row.attempts + 1
    const due_ms = elapsed_ms + Math.min(1000 * 2 ** attempts, max_backoff_ms)
    await sql`UPDATE work SET attempts = ${attempts}, last_error = ${String(error).slice(0, 500)},
      lease_ends_ms = ${due_ms} ${where(row)} AND lease_ends_ms <= ${elapsed_ms}`.execute(tx)
  })
