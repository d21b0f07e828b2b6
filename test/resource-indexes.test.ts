// runs: once
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type { Db } from '../src/db/db.ts'
import type { SortKey } from '../src/db/lists/orders.ts'
import { migrate } from '../src/db/migrate.ts'
import { resources } from '../src/resources/index.ts'
import { filterFieldsOf } from '../src/resources/lists/filter-fields.ts'
import { ordersOf } from '../src/resources/lists/list-query.ts'
import { defineResource, type Resource } from '../src/resources/resource.ts'
import { openScratch } from './engine.ts'
import { scratchFolder } from './process.ts'

// A list, a timeline or a removal works without its index, but takes longer with each record.

/** The beginnings of the definitions that a resource needs, after ON. */
function neededBy(resource: Resource, db: Db): string[] {
  const { table, part_of } = resource
  const live = (columns: string) => `${table} (workspace_id, ${columns}`
  const expression = ({ by, descending }: SortKey) =>
    `${by.compile(db).sql.replaceAll('"', '')}${descending ? ' DESC' : ''}`
  const references = [...Object.keys(resource.references), ...(part_of ? [part_of.by] : [])]
  return [
    live('id)'),
    live('deleted_at, id) WHERE deleted_at IS NOT NULL'),
    ...references.map((field) => `${table} (${field}) WHERE`),
    ...filterFieldsOf(resource)
      .filter(({ column }) => column.filtered)
      .map(({ name, column }) => live(`${column.filtered === 'by_key' ? `${name}_key` : name}, id`)),
    ...[...resource.counted, ...references].map((field) => live(`${field}, id`)),
    // A part of another record has no list that is sorted.
    ...(part_of ? [] : ordersOf(resource).map((order) => live(`${order.map(expression).join(', ')}, id)`))),
  ]
}

type Definition = { type: string; name: string; text: string }

async function definitions(t: TestContext): Promise<{ db: Db; all: Definition[] }> {
  const database = await openScratch(scratchFolder(t))
  t.after(() => database.close())
  await migrate(database)
  const { rows } = await sql<Definition>`
    SELECT type, name, sql AS text FROM sqlite_schema WHERE sql IS NOT NULL`.execute(database.db)
  return { db: database.db, all: rows }
}

test('every resource has the indexes of its lists, its references and the trash', async (t) => {
  const { db, all } = await definitions(t)
  const indexed = all.flatMap(({ type, text }) => (type === 'index' ? text.split(' ON ').slice(1) : []))
  const has = (text: string) => indexed.some((one) => one.startsWith(text))
  // One index of a reference can serve its lists, too. The rows of a list are then equal in all its columns.
  const servesBoth = (needed: string) => {
    const [, table, field] = /^(\w+) \((?:workspace_id, )?(\w+)(?:, id|\) WHERE)$/.exec(needed) ?? []
    return has(`${table} (${field}, workspace_id, deleted_at) WHERE ${field} IS NOT NULL`)
  }
  const missing = (some: readonly Resource[]) =>
    some.flatMap((resource) => neededBy(resource, db).filter((needed) => !has(needed) && !servesBoth(needed)))
  assert.deepEqual(missing(resources), [])
  const [deals] = resources.filter(({ table }) => table === 'deals')
  assert.ok(deals)
  const columns = { ...deals.columns, lost_reason: { shown: {}, counted: true as const } }
  assert.deepEqual(missing([defineResource({ ...deals, columns })]), ['deals (workspace_id, lost_reason, id'])
})

test('the records of every list are counted in blocks, by which deep pages are found', async (t) => {
  const { all } = await definitions(t)
  for (const { table, part_of } of resources) {
    const triggers = all.filter(({ type, name }) => type === 'trigger' && name.startsWith(`${table}_block_`))
    assert.equal(triggers.length, part_of ? 0 : 4, table)
  }
})
