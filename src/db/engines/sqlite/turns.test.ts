import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { cpuTime } from '../../../../test/calm-time.ts'
import { createMetrics } from '../../../http/metrics.ts'
import { type Database, type Db, transaction } from '../../db.ts'
import { prepareRows } from '../../statements/recordset.ts'
import type { Tx } from '../../tx.ts'
import { openSqlite } from './open.ts'

let folder: string
let database: Database
let db: Db
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rapport-turns-'))
  database = openSqlite(join(folder, 'test.db'))
  db = database.db
  await transaction(db, (tx) => sql`CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)`.execute(tx))
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const insert = prepareRows(
  { id: 'bigint!' },
  ({ row, values }) => sql`INSERT INTO notes (id, text) ${values([row.id, 'a'])}`,
)
const rows = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ id: from + i }))
const add = (tx: Tx, id: number) => sql`INSERT INTO notes (id, text) VALUES (${id}, 'a')`.execute(tx)
const count = async (handle: Db) =>
  (await sql<{ n: number }>`SELECT count(*) AS n FROM notes`.execute(handle)).rows[0]?.n

/** How many turns the event loop makes while work is under way. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let busy = true
  const done = work.finally(() => {
    busy = false
  })
  while (busy) {
    await turn()
    turns++
  }
  await done
  return turns
}

test('a transaction of many statements holds nobody up: the loop turns in between', async () => {
  const turns = await turnsDuring(
    transaction(db, async (tx) => {
      for (let id = 0; id < 50_000; id++) await add(tx, id)
    }),
  )
  assert.ok(turns > 5, `${turns} turns`)
})

test('a statement for many rows holds nobody up, and reads meanwhile see what is committed', async () => {
  const work = transaction(db, (tx) => insert(tx, rows(0, 100_000), {}))
  let done = false
  void work.finally(() => {
    done = true
  })
  const seen = new Set<number | undefined>()
  for (; !done; await turn()) if (!done) seen.add(await count(db))
  await work
  assert.deepEqual([...seen], [0])
  assert.equal(await count(db), 100_000)
})

test('many transactions that wait together share a commit, and the loop turns between them', async () => {
  // Enough work for many turns, however fast the machine is.
  const groups: number[] = []
  database.onGroup((size) => groups.push(size))
  const works = rows(0, 30).map(({ id }) =>
    transaction(db, (tx) => insert(tx, rows(id * 50_000, 50_000), {})),
  )
  const turns = await turnsDuring(Promise.all(works))
  assert.deepEqual(groups, [30])
  assert.ok(turns > 5, `${turns} turns`)
})

test('statements that are issued together keep their order when the loop turns between them', async () => {
  const [, between, , last] = await transaction(db, (tx) =>
    Promise.all([
      insert(tx, rows(0, 50_000), {}),
      count(tx),
      insert(tx, rows(50_000, 50_000), {}),
      count(tx),
    ]),
  )
  assert.deepEqual([between, last], [50_000, 100_000])
})

test('what waits for its turn when its transaction fails is not done in the next one', async () => {
  const failing = transaction(db, async (tx) => {
    void insert(tx, rows(0, 100_000), {}).catch(() => {})
    await turn()
    throw new Error('changed my mind')
  })
  const next = transaction(db, (tx) => insert(tx, rows(500_000, 20_000), {}))
  await assert.rejects(failing, /changed my mind/)
  await next
  assert.equal(await count(db), 20_000)
})

const counting = (handle: Db, steps: number) =>
  sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${steps})
    SELECT count(*) FROM n WHERE i <> ${'a secret'}`.execute(handle)
const first_words = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i +'

/** A statement that holds the loop for long on this machine, however fast it is. */
async function slowStatement() {
  for (let steps = 500_000; ; steps *= 2) {
    const cpu_ms = await cpuTime(() => counting(db, steps))
    // Far above the limit: the next one may be faster than the one that was measured.
    if (cpu_ms > 200) return (handle: Db) => counting(handle, steps)
  }
}

test('a statement that blocks the loop for more than 50 ms is reported by its first words, without values', async () => {
  const slowly = await slowStatement()
  const told: [string, number][] = []
  database.onSlow((statement, ms) => told.push([statement, ms]))
  await slowly(db)
  await transaction(db, slowly)
  await count(db)
  // On a busy machine, BEGIN or COMMIT may be slow too.
  const ours = told.filter(([statement]) => statement.startsWith('WITH'))
  assert.deepEqual(
    ours.map(([statement]) => statement),
    Array(2).fill(first_words),
  )
  for (const [, ms] of ours) assert.ok(ms > 50)
})

test('metrics count the statements that held the loop for too long', async () => {
  const metrics = createMetrics(
    async () => ({
      due: 0,
      in_flight: 0,
      failed: 0,
      oldest_due_seconds: 0,
      paused: 0,
      oldest_paused_seconds: 0,
      fanouts: 0,
      oldest_work_seconds: {},
    }),
    () => ({ held: false, put_off: 0, durable: true }),
    { lines: () => [] },
  )
  const slowly = await slowStatement()
  database.onSlow((statement) => {
    if (statement === first_words) metrics.statementHeld()
  })
  assert.match(await metrics.text(), /^rapport_slow_statements_total 0$/m)
  await slowly(db)
  assert.match(await metrics.text(), /^rapport_slow_statements_total 1$/m)
})
