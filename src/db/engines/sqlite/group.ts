import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Checkpoints } from './checkpoint.ts'
import type { SearchIndex } from './search-index.ts'
import type { Watch } from './watch.ts'

type Member = { resolve: () => void; reject: (error: unknown) => void; large?: boolean }

// A group commits at this size even when more transactions wait, so that its first member does not wait long.
const max_group_size = 1000

// How long transactions run before they yield to the event loop. They also yield between two statements of one
// transaction. The group stays open meanwhile, and readers see only committed rows.
const max_turn_ms = 20

// How long a group waits for the lock of another process that writes, and how often it retries.
const busy_timeout_ms = 5000
const busy_retry_ms = 5
const sqlite_busy = 5

// SQLite's default: a commit that finds so many pages in the log copies them into the database file.
const max_log_pages = 1000

/**
 * Group commit: a commit costs an fsync, so transactions that arrive together share one. Each runs in a savepoint of
 * one open BEGIN IMMEDIATE; the group commits once and only then resolves them. An error rolls back its own savepoint;
 * a failed COMMIT fails every member.
 */
export function createGroup(
  writer: DatabaseSync,
  watch: Watch,
  index: SearchIndex,
  checkpoints: Checkpoints,
  onCommit: (size: number) => void,
) {
  // Every transaction runs these statements, so prepare them once.
  const [begin, savepoint, release, commit] = [
    'BEGIN IMMEDIATE',
    'SAVEPOINT member',
    'RELEASE member',
    'COMMIT',
  ].map((sql) => writer.prepare(sql)) as [StatementSync, StatementSync, StatementSync, StatementSync]
  const count = writer.prepare('PRAGMA wal_checkpoint(NOOP)')
  const waiting: Member[] = []
  let members: Member[] = []
  let open = false
  /** The current member is large, and so has no savepoint. */
  let is_large = false
  /** A member of the open group was large. */
  let had_large = false
  /** The next group waits for the checkpoint. Otherwise the log would never begin anew. */
  let is_copying = false
  let running = false
  let busy_since_ms: number | null = null
  let turn_began_ms = 0

  // Use the end time of the last statement: another call of performance.now() would slow every statement.
  const isTurnOver = () => watch.last_ms - turn_began_ms > max_turn_ms

  function beginTurn() {
    turn_began_ms = performance.now()
  }

  function next() {
    const is_full = members.length >= (waiting[0]?.large ? 1 : max_group_size)
    if (is_full || !waiting.length) {
      if (!isIndexed()) return void setImmediate(nextTurn)
      close()
    }
    if (!waiting.length || is_copying) {
      running = false
      // Members that just resolved may have queued new transactions already.
      if (waiting.length && !is_copying) start()
      return
    }
    if (isTurnOver()) return void setImmediate(nextTurn)
    try {
      if (!open) {
        begin.run()
        open = true
        had_large = false
      }
      is_large = waiting[0]?.large ?? false
      had_large ||= is_large
      if (!is_large) savepoint.run()
    } catch (error) {
      return refuse(error as Error)
    }
    busy_since_ms = null
    waiting.shift()?.resolve()
  }

  // SQLite's own busy_timeout would block the whole process, readers included, once for each waiting writer.
  function refuse(error: Error & { errcode?: number }) {
    // Compare the low byte: SQLITE_BUSY_RECOVERY, for example, is busy too.
    if (((error.errcode ?? 0) & 0xff) === sqlite_busy) {
      busy_since_ms ??= performance.now()
      if (performance.now() - busy_since_ms < busy_timeout_ms) return void setTimeout(nextTurn, busy_retry_ms)
    }
    busy_since_ms = null
    for (const member of waiting.splice(0)) member.reject(error)
    next()
  }

  // Catches up for one turn. Other members may join the group between two turns, unless it is full.
  function isIndexed(): boolean {
    if (!open || !members.length) return true
    try {
      while (!index.catchUp()) if (isTurnOver()) return false
    } catch (error) {
      fail(error)
    }
    return true
  }

  function close() {
    if (!open) return
    try {
      if (had_large) writer.exec('PRAGMA wal_autocheckpoint = 0')
      watch.run('COMMIT', commit)
    } catch (error) {
      return fail(error)
    } finally {
      if (had_large) writer.exec(`PRAGMA wal_autocheckpoint = ${max_log_pages}`)
    }
    open = false
    is_large = false
    const group = members
    members = []
    for (const member of group) member.resolve()
    if (group.length) onCommit(group.length)
    if (had_large) copyLog()
  }

  // A thread does the checkpoint of a large group.
  function copyLog() {
    const { log, checkpointed } = count.get() as { log: number; checkpointed: number }
    is_copying = log - checkpointed >= max_log_pages
    if (!is_copying) return
    void checkpoints.run().then(() => {
      is_copying = false
      if (waiting.length && !running) start()
    })
  }

  function fail(error: unknown) {
    abandon(error)
    // Ignore errors of this rollback, so that the next group can begin. Its BEGIN reports a lasting problem.
    try {
      if (writer.isTransaction) writer.exec('ROLLBACK')
    } catch {}
  }

  // Start after this turn of the event loop, so that requests of the same turn join the group.
  function start() {
    running = true
    setImmediate(nextTurn)
  }

  function nextTurn() {
    beginTurn()
    next()
  }

  return {
    /** Whether the current transaction must yield to the event loop before its next statement. */
    isTurnOver,
    /** Whether other transactions wait for the current one. */
    isAwaited: () => waiting.length > 0,
    /** Indexes what a large member has changed so far. In a savepoint, FTS5 would flush each time. */
    writeAhead(): void {
      while (is_large && !index.catchUp());
    },
    /** Yields to the event loop. No other transaction runs meanwhile. */
    yieldTurn: () => new Promise<void>((resolve) => setImmediate(resolve)).then(beginTurn),
    /**
     * A large member is the first of its group, without a savepoint: in one, SQLite keeps a copy of each page for each
     * statement. Others may join after it.
     */
    begin(large: boolean): Promise<void> {
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject, large })
        if (!running && !is_copying) start()
      })
    },
    /** Resolves when the commit of the whole group is on the disk. */
    commit(): Promise<void> {
      try {
        if (!is_large) release.run()
      } catch (error) {
        undo(error)
        return Promise.reject(error)
      }
      return new Promise((resolve, reject) => {
        members.push({ resolve, reject })
        next()
      })
    },
    /** Rolls back the current member. `cause` is the database error that led to it, if there is one. */
    rollback(cause: unknown): void {
      undo(cause)
    },
  }

  function undo(cause: unknown) {
    try {
      if (!is_large) writer.exec('ROLLBACK TO member; RELEASE member')
      else {
        open = false
        if (writer.isTransaction) writer.exec('ROLLBACK')
      }
    } catch (error) {
      // A full disk rolls back the whole transaction: the savepoint and the other members are gone too.
      abandon(cause ?? error)
      if (writer.isTransaction) writer.exec('ROLLBACK')
    } finally {
      next()
    }
  }

  function abandon(error: unknown) {
    open = false
    is_large = false
    for (const member of members) member.reject(error)
    members = []
  }
}
