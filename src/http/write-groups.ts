import { type Db, type Tx, transaction } from '../db/db.ts'
import { troubleOf, Unreachable } from '../db/errors.ts'
import { limitLockWait } from '../db/locks.ts'
import { openBulk } from '../db/statements/bulk.ts'
import { engineOf } from '../db/tx.ts'
import { ApiError } from '../errors.ts'

// Under load, writes share a transaction: those that wait while another one is under way run together, in bulk
// (db/statements/bulk.ts). PostgreSQL gets one statement where it got one for each write, and one COMMIT. A write that
// arrives alone has a transaction of its own.

/** How a write may share a transaction with others. */
export type Sharing = {
  /** Writes of one lane share. */
  lane: string
  /** The things that the write changes, such as a record. A transaction changes each of them once. */
  records: readonly string[]
  /** Issues the reads that all writes of the lane need. */
  prepare(tx: Tx): Promise<unknown>
}

type Work<T> = (tx: Tx) => Promise<T>
type Member = {
  sharing: Sharing
  work: Work<unknown>
  /** When it began to wait. */
  since_ms: number
  resolve(result: unknown): void
  reject(error: unknown): void
}
type Lane = {
  running: number
  /** The things that the writes under way change. */
  held: Set<string>
  waiting: Member[]
  is_woken: boolean
}

/** Runs the work in a transaction, which others may share with `sharing`. Commits before it resolves. */
type RunWrite = <T>(
  work: Work<T>,
  options: { large: boolean; keeps?(result: T): boolean; sharing: Sharing | null },
) => Promise<T>

// Each member keeps its request, its record and its event in memory.
const max_members = 64
// From here on, sharing a commit costs SQLite more than a commit of its own.
const large_from = 20
// A locked record holds up the whole group. So the group gives up soon, and its members run alone.
const lock_wait = '100ms'
// A write that waits for longer, because another process holds its record, must not hold up the writes of other records.
const max_running_ms = 200
// After a wait this long for a database that is away, its members fail too. They must not wait again.
const max_tries_ms = 1000
// Groups are sent while others wait for their commit, and few clients need no group. SQLite has one writer.
const lanes_of = { sqlite: 1, postgres: 4 }

/** Runs writes in transactions, shared ones where it can. */
export function createWriteGroups(db: Db): RunWrite {
  const lanes = new Map<string, Lane>()
  const max_running = lanes_of[engineOf(db)]

  function join(member: Member) {
    const { lane: name } = member.sharing
    let lane = lanes.get(name)
    if (!lane) {
      lane = { running: 0, held: new Set(), waiting: [], is_woken: false }
      lanes.set(name, lane)
    }
    lane.waiting.push(member)
    wake(name, lane)
  }

  // After this turn of the event loop, so that the writes of one turn share.
  function wake(name: string, lane: Lane) {
    if (lane.is_woken || lane.running >= max_running) return
    lane.is_woken = true
    setImmediate(() => {
      lane.is_woken = false
      while (lane.running < max_running && lane.waiting.length) {
        const group = takeGroup(lane)
        if (!group.length) break
        lane.running++
        const leave = once(() => {
          lane.running--
          wake(name, lane)
        })
        const timer = setTimeout(leave, max_running_ms)
        void runGroup(db, group.map(releasing(name, lane))).then(() => {
          clearTimeout(timer)
          leave()
        })
      }
      const is_empty = !lane.running && !lane.waiting.length && !lane.held.size
      // A late write may wake a lane that is gone.
      if (is_empty && lanes.get(name) === lane) lanes.delete(name)
    })
  }

  /** Wraps a member: it frees its records when it ends. */
  const releasing = (name: string, lane: Lane) => (member: Member) => {
    const { records } = member.sharing
    const start_ms = performance.now()
    const release = () => {
      for (const one of records) lane.held.delete(one)
      wake(name, lane)
    }
    return {
      ...member,
      resolve(result: unknown) {
        release()
        member.resolve(result)
      },
      reject(error: unknown) {
        // After a long wait for a lock or a connection: each of the writes after it would wait as long.
        const has_waited = performance.now() - start_ms > max_tries_ms
        if (has_waited && troubleOf(error) === 'unavailable') refuseWaiting(lane, records, error)
        release()
        member.reject(error)
      },
    }
  }

  return (work, { sharing, ...options }) =>
    sharing
      ? new Promise((resolve, reject) => {
          join({ sharing, work, since_ms: performance.now(), resolve: resolve as never, reject })
        })
      : transaction(db, work, options)
}

/** Refuses the writes that wait for one of the records. */
function refuseWaiting(lane: Lane, records: readonly string[], error: unknown): void {
  const [refused, left]: [Member[], Member[]] = [[], []]
  for (const member of lane.waiting)
    (member.sharing.records.some((one) => records.includes(one)) ? refused : left).push(member)
  lane.waiting = left
  for (const { reject } of refused) reject(error)
}

function once(act: () => void): () => void {
  let is_done = false
  return () => {
    if (!is_done) act()
    is_done = true
  }
}

/** Takes the first members that may run together: each changes something else, which no running group changes. */
function takeGroup({ waiting, held }: Lane): Member[] {
  // Also of the members that are left: the writes of a record keep their order.
  const passed = new Set<string>()
  const group: Member[] = []
  const left: Member[] = []
  for (const member of waiting) {
    const { records } = member.sharing
    const is_free = group.length < max_members && !records.some((one) => held.has(one) || passed.has(one))
    if (is_free) group.push(member)
    else left.push(member)
    for (const one of records) passed.add(one)
  }
  for (const member of group) for (const one of member.sharing.records) held.add(one)
  waiting.splice(0, waiting.length, ...left)
  return group
}

async function runGroup(db: Db, group: readonly Member[]): Promise<void> {
  const since_ms = performance.now()
  if (group.length > 1 && (await runTogether(db, group, since_ms))) return
  await Promise.all(
    group.map(({ work, since_ms, resolve, reject }) =>
      transaction(db, work, { since_ms }).then(resolve, reject),
    ),
  )
}

/** A member failed after it wrote, or for another reason than its request. So the transaction cannot be committed. */
class Spoiled extends Error {}

const isLockTimeout = (error: unknown) => (error as { code?: unknown } | null)?.code === '55P03'
const isRefusal = (error: unknown) => error instanceof ApiError && error.statusCode < 500

/**
 * Runs the members in one transaction, and tells them the result. Most writes that fail do so before they write, which does
 * not concern the others. False: nothing was written, and each member must run alone.
 */
async function runTogether(db: Db, group: readonly Member[], since_ms: number): Promise<boolean> {
  let is_committing = false
  let connected_ms = since_ms
  try {
    const ran = await transaction(
      db,
      async (tx) => {
        is_committing = false
        connected_ms = performance.now()
        const bulk = openBulk(tx)
        limitLockWait(tx, lock_wait)
        const prepared = group[0]?.sharing.prepare(tx)
        const members = group.map(({ work }, index) => ({ work, tx: bulk.member(index) }))
        // Wait for all of them: the statements of one that failed end before a rollback.
        const settled = await Promise.allSettled(members.map((member) => member.work(member.tx)))
        await prepared
        for (const [index, { tx }] of members.entries()) {
          const one = settled[index] as PromiseSettledResult<unknown>
          if (one.status === 'rejected' && (!isRefusal(one.reason) || tx.has_written))
            throw new Spoiled('', { cause: one.reason })
        }
        await bulk.flush()
        limitLockWait(tx)
        is_committing = true
        return settled
      },
      { large: group.length >= large_from, since_ms },
    )
    for (const [index, { resolve, reject }] of group.entries()) {
      const one = ran[index] as PromiseSettledResult<unknown>
      if (one.status === 'fulfilled') resolve(one.value)
      else reject(one.reason)
    }
    return true
  } catch (error) {
    const reason = error instanceof Spoiled ? error.cause : error
    // Nobody knows whether the commit succeeded. In all other cases, the database has rolled back.
    const is_unknown = is_committing && reason instanceof Unreachable
    // Before the commit, a lock is held by a transaction that concerns one member. At the commit, all wait for the same one.
    // But members that have waited for a connection must not wait for another one.
    const end_ms = isLockTimeout(reason) && !is_committing ? connected_ms : performance.now()
    const is_away = troubleOf(reason) === 'unavailable' && end_ms - since_ms > max_tries_ms
    if (!is_unknown && !is_away) return false
    for (const { reject } of group) reject(reason)
    return true
  }
}
