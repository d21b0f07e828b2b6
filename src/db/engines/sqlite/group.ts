import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Watch } from './watch.ts'

type Member = { resolve: () => void; reject: (error: unknown) => void }

// A group ends at this size even when more transactions wait, so that the first of them is answered in time.
const largest_group = 1000

// For how long transactions run one after the other before requests, timers and answers get their turn. Between two
// statements of one transaction too: the group stays open meanwhile, and readers see what is committed.
const longest_turn_ms = 20

// How long a group waits for another process that writes, and how often it looks.
const patience_ms = 5000
const look_ms = 5
const sqlite_busy = 5

/**
 * Group commit: a commit costs an fsync, so transactions that arrive together share one. Each runs in a savepoint of
 * one open BEGIN IMMEDIATE; the group commits once and only then resolves them. An error rolls back its own savepoint;
 * a failed COMMIT fails every member.
 */
export function createGroup(writer: DatabaseSync, watch: Watch, onCommit: (size: number) => void) {
  // Prepared, because every transaction runs them.
  const [begin, savepoint, release, commit] = [
    'BEGIN IMMEDIATE',
    'SAVEPOINT member',
    'RELEASE member',
    'COMMIT',
  ].map((sql) => writer.prepare(sql)) as [StatementSync, StatementSync, StatementSync, StatementSync]
  const waiting: Member[] = []
  let members: Member[] = []
  let open = false
  let running = false
  let waiting_since: number | null = null
  let turn_began = 0

  // By the end of the last statement: asking for the time once more would cost every statement.
  const isTurnOver = () => watch.last_ms - turn_began > longest_turn_ms

  function beginTurn() {
    turn_began = performance.now()
  }

  function next() {
    if (members.length >= largest_group) close()
    if (!waiting.length) {
      close()
      running = false
      // Members that just resolved may have queued new transactions already.
      if (waiting.length) start()
      return
    }
    if (isTurnOver()) return void setImmediate(nextTurn)
    try {
      if (!open) {
        begin.run()
        open = true
      }
      savepoint.run()
    } catch (error) {
      return refuse(error as Error)
    }
    waiting_since = null
    waiting.shift()?.resolve()
  }

  // Not SQLite's own waiting: that would stop the whole process, readers too, and once more for each writer in line.
  function refuse(error: Error & { errcode?: number }) {
    // The low byte: another process that recovers the log is busy too, with a number of its own.
    if (((error.errcode ?? 0) & 0xff) === sqlite_busy) {
      waiting_since ??= performance.now()
      if (performance.now() - waiting_since < patience_ms) return void setTimeout(nextTurn, look_ms)
    }
    waiting_since = null
    for (const turn of waiting.splice(0)) turn.reject(error)
    next()
  }

  function close() {
    if (!open) return
    open = false
    const group = members
    members = []
    try {
      watch.run('COMMIT', commit)
    } catch (error) {
      for (const member of group) member.reject(error)
      // Whatever becomes of the rest of it, the next group must get its turn: BEGIN will tell.
      try {
        if (writer.isTransaction) writer.exec('ROLLBACK')
      } catch {}
      return
    }
    for (const member of group) member.resolve()
    if (group.length) onCommit(group.length)
  }

  // The first transaction waits for the end of the loop's turn, so that requests read in the same turn join its group.
  function start() {
    running = true
    setImmediate(nextTurn)
  }

  function nextTurn() {
    beginTurn()
    next()
  }

  return {
    /** Whether the current transaction has run for so long that its next statement must wait for a turn of the loop. */
    isTurnOver,
    /** Lets the event loop turn; the current transaction stays the current one. */
    rest: () => new Promise<void>((resolve) => setImmediate(resolve)).then(beginTurn),
    begin(): Promise<void> {
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        if (!running) start()
      })
    },
    /** Resolves when the whole group is on the disk. */
    commit(): Promise<void> {
      try {
        release.run()
      } catch (error) {
        undo(error)
        return Promise.reject(error)
      }
      return new Promise((resolve, reject) => {
        members.push({ resolve, reject })
        next()
      })
    },
    /** Undoes the current member; `cause` is what the database refused, if anything. */
    rollback(cause: unknown): void {
      undo(cause)
    },
  }

  function undo(cause: unknown) {
    try {
      writer.exec('ROLLBACK TO member; RELEASE member')
    } catch (error) {
      // A full disk ends the whole transaction by itself: then there is no savepoint left, and nothing of the group.
      abandon(cause ?? error)
      if (writer.isTransaction) writer.exec('ROLLBACK')
    } finally {
      next()
    }
  }

  function abandon(error: unknown) {
    open = false
    for (const member of members) member.reject(error)
    members = []
  }
}
