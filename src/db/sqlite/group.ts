import type { DatabaseSync, StatementSync } from 'node:sqlite'

type Member = { resolve: () => void; reject: (error: unknown) => void }

// A group ends at this size even when more transactions wait, so that the first of them is answered in time.
const largest_group = 1000

// How long a group waits for another process that writes, and how often it looks.
const patience_ms = 5000
const look_ms = 5
const sqlite_busy = 5

/**
 * Group commit: a commit costs an fsync, so transactions that arrive together share one. Each runs in a savepoint of
 * one open BEGIN IMMEDIATE; the group commits once and only then resolves them. An error rolls back its own savepoint;
 * a failed COMMIT fails every member.
 */
export function createGroup(writer: DatabaseSync, onCommit: (size: number) => void) {
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

  function next() {
    if (members.length >= largest_group) close()
    if (!waiting.length) {
      close()
      running = false
      // Members that just resolved may have queued new transactions already.
      if (waiting.length) start()
      return
    }
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
      if (performance.now() - waiting_since < patience_ms) return void setTimeout(next, look_ms)
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
      commit.run()
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
    setImmediate(next)
  }

  return {
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
