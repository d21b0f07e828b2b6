import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { type Database, type Db, transaction } from '../../db.ts'
import type { Tx } from '../../tx.ts'
import { openSqlite } from './open.ts'

let folder: string
let file: string
let database: Database
let db: Db
let groups: number[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  file = join(folder, 'test.db')
  database = openSqlite(file)
  db = database.db
  groups = []
  await transaction(db, async (tx) => {
    await sql`CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, parent INTEGER REFERENCES notes (id))`.execute(
      tx,
    )
  })
  database.onGroup((size) => groups.push(size))
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const add = (tx: Db, id: number, text = 'a') =>
  sql`INSERT INTO notes (id, text) VALUES (${id}, ${text})`.execute(tx)
async function ids(handle: Db): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`SELECT id FROM notes ORDER BY id`.execute(handle)
  return rows.map(({ id }) => id)
}
/** The committed data, as another process sees it. */
function committed(): number[] {
  const reader = new DatabaseSync(file, { readOnly: true })
  const rows = reader.prepare('SELECT id FROM notes ORDER BY id').all()
  reader.close()
  return rows.map(({ id }) => Number(id))
}
const outcomes = async (works: Promise<unknown>[]) =>
  (await Promise.allSettled(works)).map(({ status }) => status)

describe('a group', () => {
  test('transactions that come together share one commit', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, id) => transaction(db, (tx) => add(tx, id))))
    assert.deepEqual(groups, [40])
    assert.equal(committed().length, 40)
  })

  test('transactions that wait for a large one share its commit, and another large one does not', async () => {
    const large = (id: number) => transaction(db, (tx) => add(tx, id), { large: true })
    const small = (id: number) => transaction(db, (tx) => add(tx, id))
    const failing = async (tx: Tx) => {
      await add(tx, 4)
      throw new Error('no')
    }
    const results = await outcomes([large(1), small(2), small(3), transaction(db, failing), large(5)])
    assert.deepEqual(results, ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    assert.deepEqual(committed(), [1, 2, 3, 5])
    assert.deepEqual(groups, [3, 1])
  })

  test('the commit of a large transaction leaves its pages in the log; they are in the file before the next one writes', async () => {
    const observer = new DatabaseSync(file)
    const uncopied = () => {
      const { log, checkpointed } = observer.prepare('PRAGMA wal_checkpoint(NOOP)').get() ?? {}
      return Number(log) - Number(checkpointed)
    }
    const at_commit: number[] = []
    const look = (sql: unknown) => void (sql === 'COMMIT' && at_commit.push(uncopied()))
    subscribe('rapport:sqlite:statement:ended', look)
    const large = (from: number) =>
      transaction(
        db,
        async (tx) => {
          for (let id = from; id < from + 500; id++) await add(tx, id, 'x'.repeat(12_000))
        },
        { large: true },
      )
    try {
      const sizes: number[] = []
      for (let n = 0; n < 4; n++) {
        await Promise.all([large(n * 1000), transaction(db, (tx) => add(tx, n * 1000 + 900))])
        const before: number[] = []
        await transaction(db, async (tx) => {
          before.push(uncopied())
          await add(tx, n * 1000 + 901)
        })
        assert.deepEqual(before, [0])
        sizes.push(statSync(`${file}-wal`).size)
      }
      assert.ok(at_commit.filter((pages) => pages > 1500).length === 4, `${at_commit}`)
      // The log began anew each time.
      assert.ok(Math.max(...sizes) < 1.2 * Math.min(...sizes), `${sizes}`)
      assert.equal(committed().length, 4 * 502)
    } finally {
      unsubscribe('rapport:sqlite:statement:ended', look)
      observer.close()
    }
  })

  test('transactions that come one after the other are committed one by one', async () => {
    for (let id = 0; id < 3; id++) {
      await transaction(db, (tx) => add(tx, id))
      assert.deepEqual(committed().length, id + 1)
    }
    assert.deepEqual(groups, [1, 1, 1])
  })

  test('a group ends at 1,000 members, so that the first are answered in time', async () => {
    await Promise.all(Array.from({ length: 2300 }, (_, id) => transaction(db, (tx) => add(tx, id))))
    assert.deepEqual(groups, [1000, 1000, 300])
  })

  test('a transaction is on the disk when its promise resolves', async () => {
    const seen: boolean[] = []
    const works = Array.from({ length: 20 }, async (_, id) => {
      await transaction(db, (tx) => add(tx, id))
      seen.push(committed().includes(id))
    })
    await Promise.all(works)
    assert.deepEqual(seen, Array(20).fill(true))
  })

  test('members see what those before them wrote; readers see only what is committed', async () => {
    const inside: number[][] = []
    const outside: number[][] = []
    const work = (id: number) =>
      transaction(db, async (tx) => {
        await add(tx, id)
        inside.push(await ids(tx))
        outside.push(await ids(db))
      })
    await Promise.all([work(1), work(2), work(3)])
    assert.deepEqual(inside, [[1], [1, 2], [1, 2, 3]])
    assert.deepEqual(outside, [[], [], []])
    assert.deepEqual(await ids(db), [1, 2, 3])
  })

  test('members run one after the other, never in between each other', async () => {
    const trace: string[] = []
    const work = (name: string) =>
      transaction(db, async (tx) => {
        for (const step of [1, 2, 3]) {
          trace.push(`${name}${step}`)
          await sql`SELECT 1`.execute(tx)
        }
      })
    await Promise.all([work('a'), work('b'), work('c')])
    assert.deepEqual(trace, ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3'])
  })

  test('a transaction knows whether another one waits for its end', async () => {
    const seen = await transaction(db, async (tx) => {
      const before = tx.session.is_awaited
      const other = transaction(db, async (next) => next.session.is_awaited)
      // Kysely asks for the transaction on a later turn.
      await new Promise((resolve) => setImmediate(resolve))
      return { before, during: tx.session.is_awaited, other }
    })
    assert.deepEqual([seen.before, seen.during, await seen.other], [false, true, false])
  })
})

describe('failures', () => {
  test('an error rolls back its own member only, at any place in the group', async () => {
    for (const failing of [0, 1, 2]) {
      const base = failing * 10
      const works = [0, 1, 2].map((index) =>
        transaction(db, async (tx) => {
          await add(tx, base + index)
          if (index === failing) throw new Error('changed my mind')
        }),
      )
      const expected = ['fulfilled', 'fulfilled', 'fulfilled']
      expected[failing] = 'rejected'
      assert.deepEqual(await outcomes(works), expected)
    }
    assert.deepEqual(committed(), [1, 2, 10, 12, 20, 21])
    assert.deepEqual(groups, [2, 2, 2])
  })

  test('a statement that the database refuses fails its own member only, with the original error', async () => {
    const works = [1, 1, 2].map((id) => transaction(db, (tx) => add(tx, id)))
    assert.deepEqual(await outcomes(works), ['fulfilled', 'rejected', 'fulfilled'])
    await assert.rejects(works[1] as Promise<unknown>, /UNIQUE constraint failed: notes.id/)
    assert.deepEqual(committed(), [1, 2])
  })

  test('an error that the work itself handles costs only its statement', async () => {
    await transaction(db, async (tx) => {
      await add(tx, 1)
      await add(tx, 1).catch(() => {})
      await add(tx, 2)
    })
    assert.deepEqual(committed(), [1, 2])
  })

  test('a group whose members all fail commits nothing and is no group', async () => {
    const fail = () => transaction(db, async (tx) => add(tx, 1).then(() => assert.fail('no')))
    assert.deepEqual(await outcomes([fail(), fail()]), ['rejected', 'rejected'])
    assert.deepEqual([committed(), groups], [[], []])
    await transaction(db, (tx) => add(tx, 1))
    assert.deepEqual([committed(), groups], [[1], [1]])
  })

  test('a failed COMMIT fails every member, and the next group is not hurt', async () => {
    // The constraint is checked at the COMMIT, when all members are done.
    const orphan = transaction(db, async (tx) => {
      await sql`PRAGMA defer_foreign_keys = ON`.execute(tx)
      await sql`INSERT INTO notes (id, text, parent) VALUES (7, 'orphan', 99)`.execute(tx)
    })
    const works = [transaction(db, (tx) => add(tx, 1)), orphan, transaction(db, (tx) => add(tx, 2))]
    assert.deepEqual(await outcomes(works), ['rejected', 'rejected', 'rejected'])
    for (const work of works) await assert.rejects(work, /FOREIGN KEY constraint failed/)
    assert.deepEqual([committed(), groups], [[], []])
    await Promise.all([1, 2].map((id) => transaction(db, (tx) => add(tx, id))))
    assert.deepEqual([committed(), groups], [[1, 2], [2]])
  })

  test('a full disk fails those it hits with SQLITE_FULL, keeps nothing half done, and goes on when there is room again', async () => {
    const limit = (pages: number) =>
      transaction(db, (tx) => sql.raw(`PRAGMA max_page_count = ${pages}`).execute(tx))
    await limit(20)
    const large = 'x'.repeat(30_000)
    const works = Array.from({ length: 6 }, (_, id) =>
      transaction(db, async (tx) => {
        await add(tx, id)
        await add(tx, id + 100, large)
      }),
    )
    const results = await Promise.allSettled(works)
    const made = results.flatMap(({ status }, id) => (status === 'fulfilled' ? [id] : []))
    assert.ok(made.length < 6)
    for (const result of results)
      if (result.status === 'rejected')
        assert.equal((result.reason as { errcode: number }).errcode & 0xff, 13)
    assert.deepEqual(committed(), [...made, ...made.map((id) => id + 100)])
    await limit(1_000_000)
    await transaction(db, (tx) => add(tx, 50, large))
    assert.ok(committed().includes(50))
  })

  test('when the database ends the transaction by itself, a later statement of the work is not committed alone', async () => {
    const work = transaction(db, async (tx) => {
      await add(tx, 1)
      // As SQLite does on some errors: everything is undone, and whatever follows would be a transaction of its own.
      await sql`INSERT OR ROLLBACK INTO notes (id, text) VALUES (1, 'a')`.execute(tx).catch(() => {})
      await add(tx, 2)
    })
    const others = [transaction(db, (tx) => add(tx, 3)), work, transaction(db, (tx) => add(tx, 4))]
    // Work came first, so nothing was there to be lost but its own; those behind it are served.
    assert.deepEqual(await outcomes(others), ['fulfilled', 'rejected', 'fulfilled'])
    await assert.rejects(work, /UNIQUE constraint failed/)
    assert.deepEqual(committed(), [3, 4])
  })

  test('when the database ends the transaction by itself, the earlier members fail, too', async () => {
    const first = transaction(db, (tx) => add(tx, 1))
    const second = transaction(db, (tx) =>
      sql`INSERT OR ROLLBACK INTO notes (id, text) VALUES (1, 'a')`.execute(tx),
    )
    const third = transaction(db, (tx) => add(tx, 3))
    assert.deepEqual(await outcomes([first, second, third]), ['rejected', 'rejected', 'fulfilled'])
    await assert.rejects(first, /UNIQUE constraint failed/)
    assert.deepEqual(committed(), [3])
  })
})

describe('handles', () => {
  test('a write outside of a transaction is refused', async () => {
    await assert.rejects(add(db, 1), /readonly database/)
    await assert.rejects(sql`CREATE TABLE other (id INTEGER)`.execute(db), /readonly database/)
    assert.deepEqual(committed(), [])
  })

  test('a handle that outlives its transaction is refused', async () => {
    let kept: Db | undefined
    await transaction(db, async (tx) => {
      kept = tx
      await add(tx, 1)
    })
    await assert.rejects(add(kept as Db, 2))
    assert.deepEqual(committed(), [1])
  })

  test('listeners of commits are called after commits that were announced, once for all of a turn', async () => {
    const turn = () => new Promise(setImmediate)
    await turn()
    await turn()
    let calls = 0
    database.onCommit('events', () => calls++)
    database.onCommit('deliveries', () => assert.fail('of these there was no news'))
    const announced = (id: number) =>
      transaction(db, async (tx) => {
        await add(tx, id)
        tx.announce('events')
      })
    await Promise.all([1, 2, 3].map(announced))
    assert.equal(calls, 0)
    await turn()
    await turn()
    assert.equal(calls, 1)
    // A member that is refused, and a member whose caller ignores the result.
    await outcomes([announced(1), transaction(db, (tx) => add(tx, 4))])
    await turn()
    await turn()
    assert.equal(calls, 1)
  })

  test('two processes write to one file: each waits for the other, and nothing is lost', async () => {
    const other = openSqlite(file)
    const works = Array.from({ length: 60 }, (_, id) =>
      transaction(id % 2 ? db : other.db, (tx) => add(tx, id)),
    )
    await Promise.all(works)
    await other.close()
    assert.equal(committed().length, 60)
  })

  test('the file is readable by its owner only', async () => {
    for (const end of ['', '-wal']) assert.equal(statSync(file + end).mode & 0o077, 0, end)
  })
})

test('whatever transactions do, side by side, the outcome is that of those that succeeded, one after the other', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), id: fc.nat(12) }),
    fc.record({ kind: fc.constant('remove' as const), id: fc.nat(12) }),
    fc.record({ kind: fc.constant('fail' as const), id: fc.nat(1) }),
    fc.record({ kind: fc.constant('pause' as const), id: fc.nat(3) }),
  )
  const work = fc.record({ steps: fc.array(step, { maxLength: 5 }), large: fc.boolean() })
  const works = fc.array(work, { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(works, async (batch) => {
      await transaction(db, (tx) => sql`DELETE FROM notes`.execute(tx))
      const order: number[] = []
      const results = await Promise.allSettled(
        batch.map(({ steps, large }, index) => {
          const run = async (tx: Tx) => {
            order.push(index)
            for (const { kind, id } of steps) {
              if (kind === 'add') await add(tx, id)
              else if (kind === 'remove') await sql`DELETE FROM notes WHERE id = ${id}`.execute(tx)
              else if (kind === 'pause') for (let turn = 0; turn < id; turn++) await null
              else throw new Error('changed my mind')
            }
          }
          return transaction(db, run, { large })
        }),
      )
      let model = new Set<number>()
      for (const index of order) {
        const next = new Set(model)
        let fine = true
        for (const { kind, id } of batch[index]?.steps ?? []) {
          if (kind === 'fail' || (kind === 'add' && next.has(id))) fine = false
          if (!fine) break
          if (kind === 'add') next.add(id)
          if (kind === 'remove') next.delete(id)
        }
        assert.equal(results[index]?.status, fine ? 'fulfilled' : 'rejected')
        if (fine) model = next
      }
      assert.equal(order.length, batch.length)
      assert.deepEqual(
        committed(),
        [...model].sort((a, b) => a - b),
      )
    }),
    { numRuns: 100 },
  )
})
