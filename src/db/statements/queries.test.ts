// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { engine, openMigrated } from '../../../test/engine.ts'
import { before, use } from '../../../test/use.ts'
import { type Db, transaction } from '../db.ts'
import { newId } from '../ids.ts'
import { addCounts, countOf, recount } from '../lists/counts.ts'
import { isLive, referenceProblems } from '../references.ts'
import { engineOf, type Tx } from '../tx.ts'
import { prepare } from './prepare.ts'

const database = use(openMigrated)
let db: Db
before(() => {
  db = database.db
})

const now = '2026-11-21T08:30:00.000Z'
async function company(workspace_id: number, deleted_at: string | null = null): Promise<number> {
  const values = {
    workspace_id,
    name: 'Acme',
    tags: '[]',
    custom_fields: '{}',
    created_at: now,
    updated_at: now,
  }
  const row = await transaction(db, (tx) =>
    tx.insertInto('companies').values(values).returning('id').executeTakeFirstOrThrow(),
  )
  if (deleted_at)
    await transaction(db, (tx) =>
      tx.updateTable('companies').set({ deleted_at }).where('id', '=', row.id).execute(),
    )
  return row.id
}

describe('prepared queries', () => {
  const named = prepare((p: { id: number; name: string | null }, handle) =>
    handle
      .selectFrom('companies')
      .select((eb) => ['id', eb.val(p.name).as('asked')])
      .where((eb) => eb.and({ id: p.id, name: 'Acme' })),
  )
  test('run with new parameters each time, also side by side, on the database and in transactions', async () => {
    const ids = [await company(1), await company(1), await company(1)]
    // The rows of SQLite have no prototype.
    const plain = (rows: object[]) => rows.map((row) => ({ ...row }))
    const rows = await Promise.all(ids.map((id) => named(db, { id, name: `n${id}` })))
    assert.deepEqual(
      plain(rows.flat()),
      ids.map((id) => ({ id, asked: `n${id}` })),
    )
    assert.deepEqual(plain(await transaction(db, (tx) => named(tx, { id: ids[1] as number, name: null }))), [
      { id: ids[1], asked: null },
    ])
    assert.deepEqual(await named(db, { id: 0, name: "'; --" }), [])
  })

  test('are built once', async () => {
    let built = 0
    const counted = prepare((p: { id: number }, handle) => {
      built++
      return handle.selectFrom('companies').select('id').where('id', '=', p.id)
    })
    for (const id of [1, 2, 3]) await counted(db, { id })
    await transaction(db, (tx) => counted(tx, { id: 1 }))
    assert.equal(built, 1)
  })
})

describe('a statement that only the commit waits for', () => {
  const set = prepare((p: { name: string; value: string | null }, handle) =>
    handle.insertInto('settings').values({ name: p.name, value: p.value as string }),
  )
  const values = async () => {
    const rows = await db.selectFrom('settings').select('value').where('name', 'like', 'deferred%').execute()
    return rows.map(({ value }) => value)
  }

  test('is committed with the transaction, in the order of the statements', async () => {
    await transaction(db, async (tx) => {
      for (const n of [1, 2, 3]) tx.defer(set(tx, { name: `deferred ${n}`, value: String(n) }))
      await tx.deleteFrom('settings').where('name', '=', 'deferred 2').execute()
    })
    assert.deepEqual(await values(), ['1', '3'])
  })

  test('fails the transaction with its own error, also when a later statement fails because of it', async () => {
    const fails = (more: (tx: Tx) => unknown) =>
      transaction(db, async (tx) => {
        tx.defer(set(tx, { name: 'deferred 4', value: '4' }))
        tx.defer(set(tx, { name: 'deferred 5', value: null }))
        await more(tx)
      })
    const later = (tx: Tx) => tx.selectFrom('settings').select('name').execute()
    for (const more of [() => {}, later]) await assert.rejects(fails(more), /settings.value|"value"/)
    assert.deepEqual(await values(), ['1', '3'])
  })

  test('is rolled back with the transaction', async () => {
    const failing = transaction(db, async (tx) => {
      tx.defer(set(tx, { name: 'deferred 6', value: '6' }))
      throw new Error('not today')
    })
    await assert.rejects(failing, /not today/)
    assert.deepEqual(await values(), ['1', '3'])
  })
})

describe('counts', () => {
  test('follow a record by its kind and its fields, null for none', async () => {
    const move = (before: object | null, after: object | null) =>
      transaction(db, async (tx) => recount(tx, 1, 'things', ['stage', 'owner_id'], before, after))
    const counts = () =>
      Promise.all(
        ['things', 'things.stage=a', 'things.stage=b', 'things.owner_id=7'].map((name) =>
          countOf(db, 1, name),
        ),
      )
    await move(null, { stage: 'a', owner_id: null })
    await move(null, { stage: 'a', owner_id: 7 })
    assert.deepEqual(await counts(), [2, 2, 0, 1])
    await move({ stage: 'a', owner_id: 7 }, { stage: 'b', owner_id: null })
    assert.deepEqual(await counts(), [2, 1, 1, 0])
    await move({ stage: 'b', owner_id: null }, null)
    assert.deepEqual(await counts(), [1, 1, 0, 0])
    assert.deepEqual([await countOf(db, 2, 'things'), await countOf(db, 1, 'none')], [0, 0])
  })

  test('of any sequence of changes, some of them undone, the sum is what is there', async () => {
    const change = fc.record({
      name: fc.constantFrom('a', 'b', 'c=1', "c='x'"),
      by: fc.integer({ min: -3, max: 5 }),
      undone: fc.boolean(),
    })
    let workspace_id = 100
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        workspace_id++
        const works = changes.map(({ name, by, undone }) =>
          transaction(db, async (tx) => {
            await addCounts(tx, [{ workspace_id, name, by }])
            if (undone) throw new Error('undone')
          }),
        )
        await Promise.allSettled(works)
        for (const name of ['a', 'b', 'c=1', "c='x'"]) {
          const expected = changes
            .filter((one) => one.name === name && !one.undone)
            .reduce((sum, { by }) => sum + by, 0)
          assert.equal(await countOf(db, workspace_id, name), expected)
        }
      }),
      { numRuns: 30 },
    )
  })
})

describe('references', () => {
  test('name live records of the same workspace', async () => {
    const [mine, foreign, trashed] = [await company(1), await company(2), await company(1, now)]
    const live = (id: number) => transaction(db, (tx) => isLive(tx, 'companies', 1, id))
    assert.deepEqual(
      [await live(mine), await live(foreign), await live(trashed), await live(999_999)],
      [true, false, false, false],
    )
    const problems = (body: object) =>
      transaction(db, (tx) =>
        referenceProblems(tx, 1, body, { company_id: 'companies', contact_id: 'contacts' }),
      )
    assert.deepEqual(await problems({ company_id: foreign, contact_id: 5 }), [
      { field: 'company_id', code: 'not_found', message: `company_id ${foreign} does not exist.` },
      { field: 'contact_id', code: 'not_found', message: 'contact_id 5 does not exist.' },
    ])
    assert.deepEqual(await problems({ company_id: mine }), [])
    // The schema checks values that are not ids.
    for (const company_id of [null, undefined, 'x', 1.5, 0, -1, 2 ** 53, true, {}])
      assert.deepEqual(await problems({ company_id }), [])
  })
})

test('text ids are unique, and their order is that in which they were made', () => {
  const ids = Array.from({ length: 10_000 }, () => newId('evt'))
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(ids.toSorted(), ids)
  assert.match(ids[0] as string, /^evt_[0-9a-f]{32}$/)
})

test('a handle knows its engine, also inside a transaction', async () => {
  assert.equal(engineOf(db), engine)
  assert.equal(await transaction(db, async (tx) => tx.engine), engine)
})
