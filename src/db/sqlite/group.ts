import type { DatabaseSync } from 'node:sqlite'

type Member = { resolve: () => void; reject: (error: unknown) => void }

// A group ends at this size even when more transactions wait, so that the first of them is answered in time.
const largest_group = 1000

/**
 * Group commit: a commit costs an fsync, so transactions that arrive together share one. Each runs in a savepoint of
 * one open BEGIN IMMEDIATE; the group commits once and only then resolves them. An error rolls back its own savepoint;
 * a failed COMMIT fails every member.
 */
export function createGroup(writer: DatabaseSync, onCommit: (size: number) => void) {
  const waiting: Member[] = []
  let members: Member[] = []
  let open = false
  let running = false

  function next() {
    if (members.length >= largest_group) close()
    const turn = waiting.shift()
    if (!turn) {
      close()
      running = false
      // Members that just resolved may have queued new transactions already.
      if (waiting.length) start()
      return
    }
    try {
      if (!open) {
        writer.exec('BEGIN IMMEDIATE')
        open = true
      }
      writer.exec('SAVEPOINT member')
    } catch (error) {
      turn.reject(error)
      return next()
    }
    turn.resolve()
  }

  function close() {
    if (!open) return
    open = false
    const group = members
    members = []
    try {
      writer.exec('COMMIT')
    } catch (error) {
      if (writer.isTransaction) writer.exec('ROLLBACK')
      for (const member of group) member.reject(error)
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
        writer.exec('RELEASE member')
      } catch (error) {
        undo()
        return Promise.reject(error)
      }
      return new Promise((resolve, reject) => {
        members.push({ resolve, reject })
        next()
      })
    },
    rollback(): void {
      undo()
    },
  }

  function undo() {
    try {
      // A full disk ends the whole transaction by itself: then there is no savepoint left, and nothing of the group.
      if (writer.isTransaction) writer.exec('ROLLBACK TO member; RELEASE member')
      else abandon(new Error('The transaction was ended by the database.'))
    } finally {
      next()
    }
  }

  function abandon(error: Error) {
    open = false
    for (const member of members) member.reject(error)
    members = []
  }
}
