// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { type Db, transaction } from '../../db/db.ts'
import { conflict } from '../../errors.ts'
import { contactRoom } from '../contacts/routes.ts'
import { runBatch } from './batch.ts'
import { type BatchOptions, type Writes, writesOf } from './items.ts'

// Items that fail after they wrote something: by a rule, or by a statement.
const writes = writesOf(contactRoom) as Writes
const failing: Writes = {
  ...writes,
  operations: {
    ...writes.operations,
    async create(tx, context, body, problems) {
      const made = await writes.operations.create(tx, context, body, problems)
      const { last_name } = body as { last_name: string }
      if (last_name === 'rule') throw conflict('changed_since', 'A rule that was judged late.')
      if (last_name === 'deferred')
        tx.rows(() => Promise.reject(conflict('changed_since', 'A rule of rows that are written last.')), [1])
      if (last_name === 'statement') await sql`INSERT INTO no_such_table VALUES (1)`.execute(tx)
      return made
    },
  },
}

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

const create = (last_name: string) => ({ op: 'create', data: { first_name: 'Ana', last_name, tags: ['x'] } })
const run = (items: unknown[], options: BatchOptions, large = true) =>
  transaction(outbox.db, (tx) => runBatch(tx, outbox.context(), failing, items, options), { large })

async function stored(db: Db) {
  const names = async (table: 'contacts' | 'events' | 'audit_log' | 'field_values') =>
    (await db.selectFrom(table).selectAll().execute()).length
  const counts = await sql<{
    n: number
  }>`SELECT sum(n) AS n FROM record_counts WHERE name = 'contacts'`.execute(db)
  return [
    await names('contacts'),
    await names('events'),
    await names('audit_log'),
    await names('field_values'),
    Number(counts.rows[0]?.n ?? 0),
  ]
}

for (const large of [true, false])
  test(`an item that fails after it wrote leaves nothing, and the others stay (${large ? 'large' : 'small'})`, async () => {
    const items = ['Ruiz', 'rule', 'Ek', 'rule', 'Bo'].map(create)
    const outcomes = await run(items, { atomic: false }, large)
    assert.deepEqual(
      outcomes.map(({ status, error }) => [status, error?.code]),
      [
        ['created', undefined],
        ['failed', 'conflict'],
        ['created', undefined],
        ['failed', 'conflict'],
        ['created', undefined],
      ],
    )
    assert.deepEqual(await stored(outbox.db), [3, 3, 3, 3, 3])
  })

test('an atomic batch with an item that fails after it wrote leaves nothing, and names the item', async () => {
  await assert.rejects(run(['Ruiz', 'rule', 'Ek'].map(create), { atomic: true }), (error) => {
    const { code, fields } = error as { code: string; fields: { field: string; code: string }[] }
    assert.equal(code, 'validation_failed')
    assert.deepEqual(
      fields.map(({ field, code }) => [field, code]),
      [['items[1]', 'conflict']],
    )
    return true
  })
  assert.deepEqual(await stored(outbox.db), [0, 0, 0, 0, 0])
})

test('a statement that fails for an unknown reason fails the whole batch, which leaves nothing', async () => {
  const items = ['Ruiz', 'statement', 'Ek'].map(create)
  for (const atomic of [true, false]) await assert.rejects(run(items, { atomic }), /no_such_table/)
  assert.deepEqual(await stored(outbox.db), [0, 0, 0, 0, 0])
  // The connection and the commit group work as before.
  await run(['Ruiz'].map(create), { atomic: true })
  assert.deepEqual(await stored(outbox.db), [1, 1, 1, 1, 1])
})

test('large and small transactions beside each other all commit, and a failed one takes no other with it', async () => {
  const runs = Array.from({ length: 30 }, (_, n) => {
    const fails = n % 5 === 0
    const items = Array.from({ length: n % 3 ? 3 : 40 }, () => create('Ruiz'))
    if (fails) items.push(create('statement'))
    return run(items, { atomic: true }, n % 2 === 0).then(
      () => items.length,
      () => 0,
    )
  })
  const made = (await Promise.all(runs)).reduce((sum, n) => sum + n, 0)
  assert.deepEqual(await stored(outbox.db), [made, made, made, made, made])
})

test('an item whose last rows are refused leaves no event either', async () => {
  const items = ['rule', 'Ruiz', 'deferred', 'Bo'].map(create)
  const outcomes = await run(items, { atomic: false })
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['failed', 'created', 'failed', 'created'],
  )
  assert.deepEqual(await stored(outbox.db), [2, 2, 2, 2, 2])
})
