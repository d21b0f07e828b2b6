// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { engine } from '../../test/engine.ts'
import { type Outbox, openOutbox } from '../../test/outbox.ts'
import type { Db, Tx } from '../db/db.ts'
import { conflict } from '../errors.ts'
import { createCompany } from '../resources/companies/operations.ts'
import { createWriteGroups, type Sharing } from './write-groups.ts'

let outbox: Outbox
let runWrite: ReturnType<typeof createWriteGroups>
beforeEach(async () => {
  outbox = await openOutbox()
  runWrite = createWriteGroups(outbox.db)
})
afterEach(() => outbox.close())

const sharing = (records: string[], lane = 'companies'): Sharing => ({
  lane,
  records,
  prepare: async () => {},
})
const share = <T>(work: (tx: Tx) => Promise<T>, ...records: string[]) =>
  runWrite(work, { large: false, sharing: sharing(records) })
const create = (tx: Tx, name: string) => createCompany(tx, outbox.context(), { name }, [])

async function stored() {
  const names = (await outbox.db.selectFrom('companies').select('name').orderBy('name').execute()).map(
    ({ name }) => name,
  )
  const rows = async (table: 'events' | 'audit_log') =>
    (await outbox.db.selectFrom(table).selectAll().execute()).length
  const { rows: counts } = await sql<{
    n: number
  }>`SELECT sum(n) AS n FROM record_counts WHERE name = 'companies'`.execute(outbox.db)
  assert.deepEqual(
    [await rows('events'), await rows('audit_log'), Number(counts[0]?.n ?? 0)],
    [names.length, names.length, names.length],
  )
  return names
}

test('writes that wait at the same time share a transaction, and each gets its own record', async () => {
  const roots = new Set<Db>()
  const names = Array.from({ length: 40 }, (_, n) => `Nordwind ${String(n).padStart(2, '0')}`)
  const made = await Promise.all(
    names.map((name) =>
      share((tx) => {
        roots.add(tx.root)
        return create(tx, name)
      }),
    ),
  )
  assert.deepEqual(
    made.map(({ name }) => name),
    names,
  )
  assert.equal(new Set(made.map(({ id }) => id)).size, 40)
  assert.ok(roots.size < 10, `${roots.size} transactions`)
  assert.deepEqual(await stored(), names)
})

test('a refused write leaves nothing, and the others of its transaction stay', async () => {
  const results = await Promise.allSettled([
    share((tx) => create(tx, 'Ada')),
    share(async () => {
      throw conflict('changed_since', 'Refused before it wrote.')
    }),
    share((tx) => create(tx, 'Bo')),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await stored(), ['Ada', 'Bo'])
})

const late: Record<string, (tx: Tx) => Promise<unknown>> = {
  'by a rule': async () => {
    throw conflict('changed_since', 'A rule that was judged late.')
  },
  'by a statement': (tx) => sql`INSERT INTO no_such_table VALUES (1)`.execute(tx),
  'at the commit': async (tx) => tx.rows((db) => sql`INSERT INTO no_such_table VALUES (1)`.execute(db), [1]),
}
for (const [how, fail] of Object.entries(late))
  test(`a write that fails ${how} after it wrote leaves nothing, and the others stay`, async () => {
    const results = await Promise.allSettled([
      share((tx) => create(tx, 'Ada')),
      share(async (tx) => {
        await create(tx, 'Late')
        await fail(tx)
      }),
      share((tx) => create(tx, 'Bo')),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(await stored(), ['Ada', 'Bo'])
  })

test('writes of one record run one after the other, in the order in which they came', async () => {
  const order: number[] = []
  let running = 0
  const writes = Array.from({ length: 12 }, (_, n) =>
    share(async (tx) => {
      running++
      assert.equal(running, 1)
      await create(tx, `Nordwind ${n}`)
      order.push(n)
      running--
    }, 'company 1'),
  )
  await Promise.all(writes)
  assert.deepEqual(
    order,
    writes.map((_, n) => n),
  )
})

test('writes of another lane do not wait', async () => {
  const held = Promise.withResolvers<void>()
  // SQLite has one writer: there, a transaction waits for every other one.
  const first = share(() => (engine === 'sqlite' ? Promise.resolve() : held.promise))
  await runWrite((tx) => create(tx, 'Ada'), { large: false, sharing: sharing([], 'another') })
  held.resolve()
  await first
})
