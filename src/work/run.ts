import { setTimeout as pause } from 'node:timers/promises'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { rowLock } from '../db/locks.ts'
import { changeWork } from '../db/work.ts'
import type { WorkKind, WorkTable } from '../db/work-table.ts'
import { ApiError } from '../errors.ts'
import { actorOf } from '../events/actors.ts'
import { type Context, contextOf } from '../events/context.ts'
import { publicError } from '../http/errors.ts'

type Row = Selectable<WorkTable>

/** A piece of work. The transaction of its step has locked its row. */
export type Work<P = unknown> = Pick<Row, 'workspace_id' | 'subject' | 'state' | 'created_at'> & {
  position: P
  context: Context
  /** Empty at first. The same list when the transaction of the step runs again. */
  repeated: unknown[]
}

/**
 * The result of a step: the work is done, or has more steps. `ends`: it is done, and answers still show it. A step that can do
 * nothing is `busy`, and repeated after 50 ms, or comes `later`, after 1 s.
 */
export type Progress<P = unknown> = 'done' | 'busy' | 'later' | { position?: P; state?: string; ends?: true }

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
/** The caller of a request that does the work, with what the row does not have: the name, and the trace. */
type Who = Pick<Context, 'actor' | 'request_id' | 'traceparent'>

// Leave at least half of the time to others.
const max_pause_ms = 50
const busy_ms = 50
// The job runs as often.
const later_ms = 1000
const max_backoff_ms = 60_000

type Waiting = { is_busy: boolean; until_ms: number }

/**
 * Does the due work of a kind, a step of each subject in turn, until none is left or other processes do the rest. May be stopped
 * between two steps. Work that fails is tried again after at most a minute, and holds up no other work.
 */
export async function runWork(deps: Deps, steps: WorkSteps, stopping: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  // Subjects whose last step could do nothing, and those of them that had their turn since the last one found no other.
  const waiting = new Map<string, Waiting>()
  const passed = new Set<string>()
  // An error is logged when the run ends, so other work must not keep the run going.
  let ends_ms = Infinity
  for (let turn = 0; !stopping.aborted && performance.now() < ends_ms; turn++) {
    const elapsed_ms = deps.clock.elapsed()
    if (!waiting.size && !(await hasWork(deps.db, steps.kind, elapsed_ms))) break
    // Many that wait must not keep others from their turn, and others must not keep them from theirs.
    const is_for_others = turn % 2 === 0
    const skipped = [...waiting].flatMap(([subject, { until_ms }]) =>
      until_ms > performance.now() || (is_for_others && passed.has(subject)) ? subject : [],
    )
    const taken = await paced(() => takeStep(deps, steps, due(steps.kind, elapsed_ms, skipped), { failures }))
    if (!taken) {
      const has_waited = is_for_others && passed.size > 0
      if (is_for_others) passed.clear()
      if (has_waited) continue
      if (![...waiting.values()].some(({ is_busy }) => is_busy)) break
      await pause(busy_ms, undefined, { signal: stopping }).catch(() => {})
      continue
    }
    if (failures.length) ends_ms = Math.min(ends_ms, performance.now() + later_ms)
    const { subject, progress } = taken
    waiting.delete(subject)
    if (progress !== 'busy' && progress !== 'later') continue
    const is_busy = progress === 'busy'
    waiting.set(subject, { is_busy, until_ms: performance.now() + (is_busy ? busy_ms : later_ms) })
    passed.add(subject)
  }
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} steps of work failed.`)
  if (failures.length) throw failures[0]
}

/** How long no other process continues work that a request waits for, after each of its steps. */
export const lease_ms = 10_000

/** Does the work of a subject to its end, for a request that waits for it. Throws the error of a step. */
export async function finishWork<P>(
  deps: Deps,
  steps: WorkSteps<P>,
  { workspace_id, subject, who }: Pick<Work, 'workspace_id' | 'subject'> & { who?: Who },
  stopping: AbortSignal,
): Promise<void> {
  const unfinished: Choice = (tx) =>
    sql`SELECT * FROM work WHERE workspace_id = ${workspace_id} AND kind = ${steps.kind} AND subject = ${subject}
      AND lease_ends_ms IS NOT NULL ${rowLock(tx, 'FOR UPDATE')}`
  for (let left = true; left; ) {
    stopping.throwIfAborted()
    const taken = await paced(() => takeStep(deps, steps, unfinished, { lease_ms, who }))
    left = taken !== null && !isEnd(taken.progress)
    if (taken?.progress === 'busy' || taken?.progress === 'later') await pause(busy_ms)
  }
}

const isEnd = (progress: Progress) => progress === 'done' || (typeof progress === 'object' && progress.ends)

async function paced<T>(work: () => Promise<T>): Promise<T> {
  const began_ms = performance.now()
  try {
    return await work()
  } finally {
    await pause(Math.min(performance.now() - began_ms, max_pause_ms))
  }
}

async function hasWork(db: Db, kind: WorkKind, elapsed_ms: number): Promise<boolean> {
  const { rows } =
    await sql`SELECT 1 FROM work WHERE kind = ${kind} AND lease_ends_ms <= ${elapsed_ms} LIMIT 1`.execute(db)
  return rows.length > 0
}

/** Finds and locks a row of work. */
type Choice = (tx: Tx) => RawBuilder<Row>

const due =
  (kind: WorkKind, elapsed_ms: number, skipped: readonly string[]): Choice =>
  (tx) =>
    sql`SELECT * FROM work WHERE kind = ${kind} AND lease_ends_ms <= ${elapsed_ms}
      ${skipped.length ? sql`AND subject NOT IN (${sql.join(skipped)})` : sql``}
      ORDER BY lease_ends_ms, id LIMIT 1 ${rowLock(tx, 'FOR UPDATE SKIP LOCKED')}`
const same =
  ({ workspace_id, id }: Row): Choice =>
  (tx) =>
    sql`SELECT * FROM work WHERE workspace_id = ${workspace_id} AND id = ${id} ${rowLock(tx, 'FOR UPDATE')}`

/** `failures` collects the errors of steps, in place of throwing them. */
type Taking = { lease_ms?: number; who?: Who | undefined; failures?: unknown[] }

/** Does the next step of the chosen work. Null if there is none. */
async function takeStep(
  { db, clock }: Deps,
  steps: WorkSteps,
  choice: Choice,
  { lease_ms = 0, who, failures }: Taking,
): Promise<{ subject: string; progress: Progress } | null> {
  let row: Row | undefined
  const repeated: unknown[] = []
  const run = (choose: Choice, step: (tx: Tx, work: Work) => Promise<Progress>) =>
    transaction(
      db,
      async (tx) => {
        row = (await choose(tx).execute(tx)).rows[0]
        if (!row) return null
        const progress = await step(tx, { ...openWork(clock, steps, row, who), repeated })
        await store(tx, row, progress, clock.elapsed() + lease_ms)
        return { subject: row.subject, progress }
      },
      { large: steps.large ?? false },
    )
  const refused = (error: unknown) => {
    if (!row || !steps.refused || !(error instanceof ApiError)) throw error
    return run(same(row), async (tx, work) => steps.refused?.(tx, work, error) ?? 'done')
  }
  try {
    return await run(choice, (tx, work) => steps.step(tx, work)).catch(refused)
  } catch (error) {
    if (!row || !failures) throw error
    failures.push(error)
    // The database may refuse this, too. Then the next run of the job tries again.
    await postpone(db, row, error, clock.elapsed()).catch(() => {})
    return { subject: row.subject, progress: 'later' }
  }
}

function openWork(clock: Clock, { source }: WorkSteps, row: Row, who: Who | undefined) {
  const { workspace_id, actor, request_id } = row
  const author = who ?? { actor: actorOf(actor), request_id, traceparent: null }
  const context = contextOf(clock, { workspace_id, ...author, ...(source && { source }) })
  return { ...row, position: JSON.parse(row.position), context }
}

const where = ({ workspace_id, id }: Row) => sql`WHERE workspace_id = ${workspace_id} AND id = ${id}`

async function store(tx: Tx, row: Row, progress: Progress, until_ms: number): Promise<void> {
  if (progress === 'done') {
    await sql`DELETE FROM work ${where(row)}`.execute(tx)
    return
  }
  if (progress === 'busy' || progress === 'later') return
  const { ends, ...changes } = progress
  await changeWork(tx, row, { ...changes, lease_ends_ms: ends ? null : until_ms })
}

/** An error for administrators of a workspace. Others than those of answers are in the log only. */
function shownError(error: unknown): string {
  const known = publicError(error)
  return known ? `${known.code}: ${known.message}` : 'internal_error'
}

const postpone = (db: Db, row: Row, error: unknown, elapsed_ms: number): Promise<void> =>
  transaction(db, async (tx) => {
    const attempts = row.attempts + 1
    const due_ms = elapsed_ms + Math.min(1000 * 2 ** attempts, max_backoff_ms)
    await sql`UPDATE work SET attempts = ${attempts}, last_error = ${shownError(error)},
      lease_ends_ms = ${due_ms} ${where(row)} AND lease_ends_ms <= ${elapsed_ms}`.execute(tx)
  })
