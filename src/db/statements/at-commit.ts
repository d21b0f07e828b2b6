import type { Db } from '../db.ts'
import { rootOf, type WriteRows } from './bulk.ts'
import { beforeCommit, defer } from './prepare.ts'

// Rows that a transaction keeps in memory and writes right before its commit.

type Collected = Map<WriteRows<never>, unknown[]>
const collected = new WeakMap<Db, Collected>()

/**
 * Lets the commit write rows, together with all others of the same kind, also of other items of a batch. The kinds are
 * written in the order of their first call, which may have no rows.
 */
export function writeAtCommit<R>(tx: Db, write: WriteRows<R>, rows: readonly R[]): void {
  const root = rootOf(tx)
  let kinds = collected.get(root)
  if (!kinds) {
    kinds = new Map()
    collected.set(root, kinds)
  }
  let all = kinds.get(write)
  if (!all) {
    const own: R[] = []
    all = own
    kinds.set(write, all)
    beforeCommit(root, () => defer(root, write(root, own)))
  }
  for (const row of rows) all.push(row)
}

/** Call it before a savepoint. The result drops the rows that were collected since, when the savepoint is rolled back. */
export function markCollected(tx: Db): () => void {
  const kinds: Collected = collected.get(tx) ?? new Map()
  const kept = new Map([...kinds].map(([write, rows]) => [write, rows.length]))
  return () => {
    for (const [write, rows] of collected.get(tx) ?? kinds) rows.splice(kept.get(write) ?? 0)
  }
}
