import { setImmediate as turn } from 'node:timers/promises'
import type { Definition } from '../../custom-fields/definition-rules.ts'
import { definitionsOf } from '../../custom-fields/definitions.ts'
import type { Tx } from '../../db/db.ts'
import { troubleOf } from '../../db/errors.ts'
import { lockRow, lockTexts } from '../../db/locks.ts'
import { isLive } from '../../db/references.ts'
import { type Bulk, type Member, openBulk } from '../../db/statements/bulk.ts'
import { followIndexes } from '../../db/statements/plans.ts'
import { analyzeNew } from '../../db/statistics.ts'
import { ApiError, type FieldProblem, invalid, max_problems } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { readSubscribers } from '../../events/emit.ts'
import { publicError } from '../../http/errors.ts'
import { etagOf } from '../../http/etag.ts'
import { type BatchOptions, type Outcome, recordOf, type Task, taskOf, type Writes } from './items.ts'
import { dependOnOrder } from './order.ts'

// Runs many items in one transaction: the batch endpoint and the import call runBatch. Each item is checked and written by
// the operations of single requests. Items of different records run as a wave: their statements are sent together, and
// their events, audit entries and totals are written together, in the order of the items (db/statements/bulk.ts).

type Work = {
  tx: Tx
  context: Context
  writes: Writes
  definitions: readonly Definition[]
  items: readonly unknown[]
  waves: readonly (readonly Task[])[]
  options: BatchOptions
  bulk: Bulk
  /** The rows of the last wave. */
  written: Promise<void>
}

// The items that run together. Their records are in memory at once, and each may have 64 KiB of custom fields. Their checks
// block the event loop. On PostgreSQL, each wave costs round trips.
const max_wave = { sqlite: 50, postgres: 250 }

/**
 * Runs items in their order in the caller's transaction; returns an outcome for each. `items` should have at most 1,000
 * entries, because the transaction holds the locks of all records. Use `transaction(db, work, { large: true })`, and the
 * same list of items when `work` runs again.
 */
export async function runBatch(
  tx: Tx,
  context: Context,
  writes: Writes,
  items: readonly unknown[],
  options: BatchOptions,
): Promise<Outcome[]> {
  // A plan for few rows would read all rows of a table that this batch fills.
  tx.defer(followIndexes(tx))
  tx.defer(analyzeNew(tx))
  const { events } = writes.resource
  readSubscribers(
    tx,
    context.workspace_id,
    events.map(({ name }) => name),
  )
  // Read them now, so that an item which they refuse has not written yet.
  const definitions = await definitionsOf(tx, context.workspace_id, writes.resource)
  const given = { context, writes, definitions, options }
  const work = {
    ...given,
    tx,
    items,
    waves: [
      ...wavesOf(
        items.map((item, index) => taskOf(given, index, item)),
        max_wave[tx.engine],
      ),
    ],
    bulk: openBulk(tx),
    written: Promise.resolve(),
  }
  try {
    await lockAhead(work)
    return await runWaves(work)
  } catch (error) {
    const is_known = error instanceof ApiError || troubleOf(error)
    if (is_known || with_savepoints.has(items)) throw error
    with_savepoints.add(items)
    throw new RunAgain('An item needs a savepoint.', { cause: error })
  }
}

// The item lists whose transaction runs again, with a savepoint for each item.
const with_savepoints = new WeakSet<readonly unknown[]>()

/** Makes `transaction` run the work again. */
class RunAgain extends Error {
  readonly code = '40001'
}

/**
 * Locks the values of all upserts in one order, and then the records that they match together with those of all other
 * changes, and the records that they refer to. Batches that locked them wave by wave would deadlock if they had them in other
 * orders.
 */
async function lockAhead(work: Work): Promise<void> {
  const { tx, context, writes, waves, bulk } = work
  // SQLite has one writer.
  if (tx.engine === 'sqlite') return
  const { workspace_id } = context
  const tasks = waves.flat()
  const values = tasks.flatMap(({ upsert, record }) => (upsert && record) ?? [])
  await lockTexts(tx, 'upsert', workspace_id, values)
  const known = tasks.filter(({ upsert, record }) => !upsert && record !== null)
  const ids = new Set(known.map(({ id }) => id as number))
  // A single wave locks what it matches itself, unless its items run one by one.
  const is_split = waves.length > 1 || runsOneByOne(work)
  if (is_split)
    for (const upserts of Map.groupBy(tasks, ({ upsert }) => upsert?.match.field).values())
      for (const id of [...(await matchesOf(work, upserts, 'read')).values()].flat()) ids.add(id)
  // One statement can lock in one way only.
  const purpose = known.some(({ op }) => op === 'delete') ? 'removal' : 'change'
  const { table } = writes.resource
  await Promise.all([...ids].map((id, n) => lockRow(bulk.member(n), table, workspace_id, id, purpose)))
  // Items of one op check their references in one statement. New records do so before changed ones.
  const ops = new Set(tasks.map(({ op }) => op))
  if (is_split || ops.size > 1 || ops.has('upsert')) await lockReferences(work)
}

/** Locks the records that the items refer to against deletion. The check of each item reports those that do not exist. */
async function lockReferences({ context, writes, items, bulk }: Work): Promise<void> {
  for (const [field, table] of Object.entries(writes.resource.references)) {
    const ids = new Set(items.map((item) => referenceOf(item, field)).filter((id) => id !== null))
    await Promise.all([...ids].map((id, n) => isLive(bulk.member(n), table, context.workspace_id, id)))
  }
}

function referenceOf(item: unknown, field: string): number | null {
  const { data } = (item ?? {}) as { data?: Record<string, unknown> | null }
  const id = data?.[field]
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : null
}

const runsOneByOne = ({ items, options }: Work) => options.one_by_one || with_savepoints.has(items)

async function runWaves(work: Work): Promise<Outcome[]> {
  const { waves, options } = work
  const run = runsOneByOne(work) ? runOneByOne : runWave
  const outcomes: Outcome[] = []
  const problems: FieldProblem[] = []
  for (const wave of waves) {
    // The check of a wave and the rows of the last one are long, and need no statement.
    if (outcomes.length) await turn()
    for (const outcome of await run(work, wave, problems.length > 0)) {
      outcomes.push(options.views === false ? withoutViews(outcome) : outcome)
      if (options.atomic) problems.push(...problemsOf(outcome))
    }
    if (problems.length >= max_problems) break
  }
  await work.written
  if (problems.length) throw invalid(problems)
  return outcomes
}

const withoutViews = (outcome: Outcome): Outcome => ({
  ...outcome,
  etag: outcome.after && etagOf(outcome.after),
  before: null,
  after: null,
})

/** The problems of a failed item of an atomic batch, such as `items[3].data.email`. */
function problemsOf({ index, error, of_item }: Outcome): FieldProblem[] {
  if (!error) return []
  const { code, message, fields } = error
  const item = `items[${index}]`
  if (fields) {
    const within = of_item ? item : `${item}.data`
    return fields.map((problem) => ({
      ...problem,
      field: problem.field ? `${within}.${problem.field}` : within,
    }))
  }
  const part = { not_found: '.id', precondition_failed: '.if_match' }[code as string] ?? ''
  return [{ field: item + part, code, message }]
}

/** Tasks that run together: of different records, and either upserts by one field or none. */
function* wavesOf(tasks: readonly Task[], max_size: number): Generator<Task[]> {
  let wave: Task[] = []
  let records = new Set<string>()
  for (const task of tasks) {
    const { record, upsert } = task
    const begins =
      wave.length === max_size ||
      (record !== null && records.has(record)) ||
      (wave.length > 0 && wave[0]?.upsert?.match.field !== upsert?.match.field)
    if (begins) {
      yield wave
      wave = []
      records = new Set()
    }
    wave.push(task)
    if (record !== null) records.add(record)
  }
  if (wave.length) yield wave
}

/**
 * Runs a wave. Most items that fail do so before they write, so there is no savepoint: it would double the time. If a
 * statement fails, an item fails after it wrote, or items exchange unique values, the transaction is repeated with a
 * savepoint for each item.
 */
async function runWave(work: Work, tasks: readonly Task[], has_failed: boolean): Promise<Outcome[]> {
  const { bulk, options, definitions } = work
  const matched = await matchesOf(work, tasks)
  // A record may have one of the values, and a record that was merged into it another one.
  const records = [...new Set([...matched.values()].map(([first]) => first))]
  if (records.length < matched.size) throw new Error('Two items change one record.')
  const ran = await runTogether(work, tasks, matched)
  const outcomes = ran.map(({ outcome }) => outcome)
  if (dependOnOrder(definitions, outcomes)) throw new Error('An item needs a unique value of another one.')
  const failed = ran.filter(({ outcome }) => outcome.error)
  if (options.atomic && (has_failed || failed.length)) bulk.discard()
  else if (failed.some(({ member }) => member.has_written)) throw new Error('An item failed after it wrote.')
  else {
    // The next wave runs meanwhile.
    await work.written
    work.written = bulk.flush()
    work.written.catch(() => {})
  }
  return outcomes
}

async function runOneByOne(work: Work, tasks: readonly Task[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const task of tasks) outcomes.push(await runAlone(work, task))
  return outcomes
}

type Ran = { outcome: Outcome; member: Member }

/** Runs the tasks of a wave at the same time, so that their statements are sent together. */
async function runTogether(
  { bulk }: Work,
  tasks: readonly Task[],
  matched: Map<string, number[]>,
): Promise<Ran[]> {
  const start = async (task: Task): Promise<Ran> => {
    const member = bulk.member(task.index)
    return { outcome: await attempt(task, member, matched.get(task.record ?? '') ?? []), member }
  }
  // Wait for all of them: the statements of one that failed end before the rollback.
  const settled = await Promise.allSettled(tasks.map(start))
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** Runs a task in a savepoint. */
async function runAlone(work: Work, task: Task): Promise<Outcome> {
  const { tx, bulk } = work
  const runTask = async () => {
    const matched = await matchesOf(work, [task])
    const outcome = await attempt(task, bulk.member(task.index), matched.get(task.record ?? '') ?? [])
    if (outcome.error) throw outcome.error
    await bulk.flush()
    return outcome
  }
  try {
    return await tx.savepoint(runTask, (error) => refusalOf(error) !== null)
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    bulk.discard()
    return failed(task, refusal)
  }
}

/** The error of the item; null for an error of the transaction. */
function refusalOf(error: unknown): ApiError | null {
  const known = troubleOf(error) ? null : publicError(error)
  return known && known.statusCode < 500 ? known : null
}

const failed = ({ index, op, id, of_item }: Task, error: ApiError): Outcome => ({
  index,
  op,
  status: 'failed',
  id,
  before: null,
  after: null,
  error,
  ...(of_item && { of_item }),
})

async function attempt(task: Task, member: Tx, matched: readonly number[]): Promise<Outcome> {
  const { index, op, id, run } = task
  try {
    return { index, op, id, before: null, after: null, error: null, ...(await run(member, matched)) }
  } catch (error) {
    if (error instanceof ApiError && error.statusCode < 500) return failed(task, error)
    throw error
  }
}

/** The records that the upserts of a wave match, by default locked. */
async function matchesOf(
  { tx, context }: Work,
  tasks: readonly Task[],
  purpose: 'read' | 'lock' = 'lock',
): Promise<Map<string, number[]>> {
  const { workspace_id } = context
  const ids = new Map<string, number[]>()
  const upserts = tasks.flatMap(({ upsert }) => upsert ?? [])
  const [first] = upserts
  if (!first) return ids
  const found = await first.match.find(
    tx,
    workspace_id,
    upserts.map(({ key }) => key),
    purpose,
  )
  for (const { id, key } of found) {
    const record = recordOf({ match: first.match, key })
    ids.set(record, [...(ids.get(record) ?? []), id])
  }
  return ids
}
