import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '../../src/db/db.ts'
import { lockRow } from '../../src/db/locks.ts'
import { runBatch } from '../../src/resources/batch/batch.ts'
import { type Item, type Writes, writesOf } from '../../src/resources/batch/items.ts'
import { companyRoom } from '../../src/resources/companies/routes.ts'
import { contactRoom } from '../../src/resources/contacts/routes.ts'
import { openOutbox } from '../outbox.ts'
import { use } from '../use.ts'
import { until } from '../webhooks.ts'

// A deadlock costs a second and a repetition. Under load, each repetition meets the next deadlock.

const outbox = use(openOutbox)

const [contacts, companies] = [contactRoom, companyRoom].map(writesOf) as [Writes, Writes]
const name = { first_name: 'Ana', last_name: 'Ruiz' }
const update = (id: number): Item => ({ op: 'update', id, data: { title: 'Head' } })
const remove = (id: number): Item => ({ op: 'delete', id })
const upsert = (email: string, more = {}): Item => ({
  op: 'upsert',
  match: 'email',
  data: { ...name, email, ...more },
})

/** Runs a batch; returns how often its transaction began. */
async function timesRun(items: readonly Item[], writes = contacts): Promise<number> {
  let times = 0
  await transaction(outbox.db, (tx) => {
    times++
    return runBatch(tx, outbox.context(), writes, items, { atomic: false })
  })
  return times
}

async function make(count: number): Promise<number[]> {
  const items = Array.from({ length: count }, () => ({ op: 'create', data: name }))
  const outcomes = await transaction(outbox.db, (tx) =>
    runBatch(tx, outbox.context(), contacts, items, { atomic: true }),
  )
  return outcomes.map(({ id }) => id as number)
}

async function makeCompanies(): Promise<[number, number, number]> {
  const items = ['A', 'B', 'C'].map((name) => ({ op: 'create', data: { name } }))
  const outcomes = await transaction(outbox.db, (tx) =>
    runBatch(tx, outbox.context(), companies, items, { atomic: true }),
  )
  return outcomes.map(({ id }) => id) as [number, number, number]
}

/** Waits until this number of statements wait for a lock. */
const waiting = (count: number) =>
  until(
    async () => {
      const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(outbox.db)
      return rows[0]?.n
    },
    (n) => n === count,
  )

/** Runs two batches at once. The first one waits for a held record in its middle, and the second one for the first. */
async function atOnce(
  held: number,
  first: readonly Item[],
  second: readonly Item[],
  table: 'contacts' | 'companies' = 'contacts',
  writes_of_second = contacts,
): Promise<number[]> {
  const released = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = transaction(outbox.db, async (tx) => {
    await lockRow(tx, table, outbox.workspace_id, held, 'removal')
    locked.resolve()
    await released.promise
  })
  await locked.promise
  const begun = timesRun(first)
  await waiting(1)
  const later = timesRun(second, writes_of_second)
  await waiting(2)
  released.resolve()
  await holding
  return Promise.all([begun, later])
}

test('batches that change and delete the same records in other orders wait for each other, without a deadlock', async () => {
  const [a, b, c] = (await make(3)) as [number, number, number]
  assert.deepEqual(await atOnce(c, [update(a), update(c), remove(b)], [update(b), remove(a)]), [1, 1])
})

test('batches that name the same records in several waves wait for each other, without a deadlock', async () => {
  const [a, b, c] = (await make(3)) as [number, number, number]
  const first = [update(a), update(a), update(c), update(c), update(b)]
  assert.deepEqual(await atOnce(c, first, [update(b), update(b), update(a)]), [1, 1])
})

test('batches that upsert the same values in other orders wait for each other, without a deadlock', async () => {
  const [c, d] = (await make(2)) as [number, number]
  const [one, two] = [upsert('one@acme.example'), upsert('two@acme.example')]
  assert.deepEqual(await atOnce(c, [one, update(c), two], [two, update(d), one]), [1, 1])
  const { n } = await outbox.db
    .selectFrom('contacts')
    .select(({ fn }) => fn.countAll().as('n'))
    .where('email', 'is not', null)
    .executeTakeFirstOrThrow()
  assert.equal(Number(n), 2)
})

test('batches that match and name the same records in other orders wait for each other, without a deadlock', async () => {
  const [c, b, a] = (await make(3)) as [number, number, number]
  const emails = { a: 'a@mixed.example', b: 'b@mixed.example' }
  await timesRun([
    { op: 'update', id: a, data: { email: emails.a } },
    { op: 'update', id: b, data: { email: emails.b } },
  ])
  const first = [upsert(emails.a), update(c), update(b)]
  assert.deepEqual(await atOnce(c, first, [upsert(emails.b), update(c), update(a)]), [1, 1])
})

test('a batch that upserts records in several waves waits for one that changes them, without a deadlock', async () => {
  const made = await timesRun(['a', 'b'].map((one) => upsert(`${one}@two.example`)))
  assert.equal(made, 1)
  const ids = await outbox.db
    .selectFrom('contacts')
    .select('id')
    .where('email', 'like', '%@two.example')
    .orderBy('email')
    .execute()
  const [a, b] = ids.map(({ id }) => id) as [number, number]
  const company = await transaction(outbox.db, (tx) =>
    runBatch(tx, outbox.context(), companies, [{ op: 'create', data: { name: 'Acme' } }], { atomic: true }),
  )
  const company_id = company[0]?.id as number
  const of_b = upsert('b@two.example', { company_id })
  const first = [of_b, of_b, upsert('a@two.example')]
  assert.deepEqual(await atOnce(company_id, first, [update(a), update(b)], 'companies'), [1, 1])
})

test('a batch whose waves refer to companies waits for one that deletes them, without a deadlock', async () => {
  const [a, b, c] = await makeCompanies()
  const wave = (company_id: number) =>
    Array.from({ length: 250 }, (): Item => ({ op: 'create', data: { ...name, company_id } }))
  const first = [...wave(b), ...wave(c), ...wave(a)]
  assert.deepEqual(await atOnce(c, first, [remove(b), remove(a)], 'companies', companies), [1, 1])
})

test('a batch that makes and changes records that refer to companies waits for one that deletes them, without a deadlock', async () => {
  const [id] = (await make(1)) as [number]
  await timesRun([upsert('known@refers.example')])
  const create = (company_id: number): Item => ({ op: 'create', data: { ...name, company_id } })
  const batches: ((one: number, two: number, three: number) => Item[])[] = [
    (a, b, c) => [create(b), create(c), { op: 'update', id, data: { company_id: a } }],
    (a, b, c) => [
      upsert('one@refers.example', { company_id: b }),
      upsert('two@refers.example', { company_id: c }),
      upsert('known@refers.example', { company_id: a }),
    ],
  ]
  for (const batch of batches) {
    const [a, b, c] = await makeCompanies()
    assert.deepEqual(await atOnce(c, batch(a, b, c), [remove(b), remove(a)], 'companies', companies), [1, 1])
  }
})
