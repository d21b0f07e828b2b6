import type { DatabaseSync } from 'node:sqlite'
import type { Checkpoints } from './checkpoint.ts'
import type { SearchIndex } from './search-index.ts'
import type { Watch } from './watch.ts'

type Waiter = { resolve: () => void; reject: (error: unknown) => void }

// A group commits at this size even when more transactions wait, so that its first member does not wait long.
const max_group_size = 1000

// How long transactions run before they yield to the event loop. They also yield between two statements of one
// transaction. The group stays open meanwhile, and readers see only committed rows.
const max_turn_ms = 20

// How long a group waits for the lock of another process that writes, and how often it retries.
export const busy_timeout_ms = 5000
const busy_retry_ms = 5
const sqlite_busy = 5

// SQLite's default: a commit that finds so many pages in the log copies them into the database file.
const max_log_pages = 1000

/** The transactions of a connection that writes. */
type Group = {
  /** Whether the current transaction must yield to the event loop before its next statement. */
  isTurnOver(): boolean
  /** Yields to the event loop. No other transaction runs meanwhile. */
  yieldTurn(): Promise<void>
  /** Whether other transactions wait for the current one. */
  isAwaited(): boolean
  /**
   * A large member is the first of its group, without a savepoint: in one, SQLite keeps a copy of each page for each
   * statement. Others may join after it.
   */
  begin(large: boolean): Promise<void>
  /** Indexes what a large member has changed so far. In a savepoint, FTS5 would flush each time. */
  writeAhead(): void
  /** Resolves when the commit of the whole group is on the disk. */
  commit(): Promise<void>
  /** Rolls back the current member. `cause` is the database error that led to it, if there is one. */
  rollback(cause: unknown): void
}

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
): Group {
  const { begin, savepoint, release, commit } = statementsOf(writer)
  // The next group waits for the checkpoint of a large one. Otherwise the log would never begin anew.
  const copying = createLogCopy(writer, checkpoints, () => {
    if (waiting.length && !running) start()
  })
  const isBusy = createBusyWait()
  const turns = createTurns(watch)
  const waiting: (Waiter & { large: boolean })[] = []
  const members = createMembers()
  let open = false
  /** The current member is large, and so has no savepoint. */
  let is_large = false
  /** A member of the open group was large. */
  let had_large = false
  let running = false

  function next() {
    const is_full = members.size() >= (waiting[0]?.large ? 1 : max_group_size)
    if (is_full || !waiting.length) {
      if (!isIndexed()) return void setImmediate(nextTurn)
      close()
    }
    if (!waiting.length || copying.runs()) {
      running = false
      return
    }
    if (turns.isOver()) return void setImmediate(nextTurn)
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
    isBusy(null)
    waiting.shift()?.resolve()
  }

  function refuse(error: Error) {
    if (isBusy(error)) return void setTimeout(nextTurn, busy_retry_ms)
    for (const member of waiting.splice(0)) member.reject(error)
    next()
  }

  // Catches up for one turn. Other members may join the group between two turns, unless it is full.
  function isIndexed(): boolean {
    if (!open || !members.size()) return true
    try {
      while (!index.catchUp()) if (turns.isOver()) return false
    } catch (error) {
      fail(error)
    }
    return true
  }

  function close() {
    if (!open) return
    try {
      if (had_large) copying.commit(() => watch.run('COMMIT', commit))
      else watch.run('COMMIT', commit)
    } catch (error) {
      return fail(error)
    }
    open = false
    is_large = false
    const size = members.resolve()
    if (size) onCommit(size)
    if (had_large) copying.start()
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
    turns.begin()
    next()
  }

  return {
    isTurnOver: turns.isOver,
    isAwaited: () => waiting.length > 0,
    writeAhead() {
      while (is_large && !index.catchUp());
    },
    yieldTurn: turns.yield,
    begin(large) {
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject, large })
        if (!running && !copying.runs()) start()
      })
    },
    commit() {
      try {
        if (!is_large) release.run()
      } catch (error) {
        undo(error)
        return Promise.reject(error)
      }
      const committed = members.add()
      next()
      return committed
    },
    rollback: undo,
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
    members.reject(error)
  }
}

/** The statements that every transaction runs. */
const statementsOf = (writer: DatabaseSync) => ({
  begin: writer.prepare('BEGIN IMMEDIATE'),
  savepoint: writer.prepare('SAVEPOINT member'),
  release: writer.prepare('RELEASE member'),
  commit: writer.prepare('COMMIT'),
})

/** The time since the last yield to the event loop. */
function createTurns(watch: Watch) {
  let began_ms = 0
  const begin = () => {
    began_ms = performance.now()
  }
  return {
    begin,
    // Use the end time of the last statement: another call of performance.now() would slow every statement.
    isOver: () => watch.last_ms - began_ms > max_turn_ms,
    yield: () => new Promise<void>((resolve) => setImmediate(resolve)).then(begin),
  }
}

/** The transactions of the open group, which wait for its commit. */
function createMembers() {
  let all: Waiter[] = []
  const takeAll = () => {
    const taken = all
    all = []
    return taken
  }
  return {
    size: () => all.length,
    add: () => new Promise<void>((resolve, reject) => void all.push({ resolve, reject })),
    /** Returns how many there were. */
    resolve(): number {
      const members = takeAll()
      for (const member of members) member.resolve()
      return members.length
    },
    reject(error: unknown): void {
      for (const member of takeAll()) member.reject(error)
    },
  }
}

/** Large groups leave their log to a thread, which copies it into the database file. */
function createLogCopy(writer: DatabaseSync, checkpoints: Checkpoints, onCopied: () => void) {
  const count = writer.prepare('PRAGMA wal_checkpoint(NOOP)')
  let runs = false
  return {
    runs: () => runs,
    /** Commits without a checkpoint in this thread. */
    commit(run: () => void): void {
      try {
        writer.exec('PRAGMA wal_autocheckpoint = 0')
        run()
      } finally {
        writer.exec(`PRAGMA wal_autocheckpoint = ${max_log_pages}`)
      }
    },
    start(): void {
      const { log, checkpointed } = count.get() as { log: number; checkpointed: number }
      runs = log - checkpointed >= max_log_pages
      if (!runs) return
      void checkpoints.run().then(() => {
        runs = false
        onCopied()
      })
    },
  }
}

/**
 * Tells whether a failed begin is worth another try; null ends a wait. SQLite's own busy_timeout would block the whole process,
 * readers included, once for each waiting writer.
 */
function createBusyWait() {
  let since_ms: number | null = null
  return (error: (Error & { errcode?: number }) | null): boolean => {
    // Compare the low byte: SQLITE_BUSY_RECOVERY, for example, is busy too.
    const is_busy = error !== null && ((error.errcode ?? 0) & 0xff) === sqlite_busy
    since_ms = is_busy ? (since_ms ?? performance.now()) : null
    if (since_ms === null || performance.now() - since_ms < busy_timeout_ms) return is_busy
    since_ms = null
    return false
  }
}
