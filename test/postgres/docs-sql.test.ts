import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { blocksIn } from '../../docs/blocks.ts'
import { removeScratch, settingsOf } from '../engine.ts'

// The blocks of SQL of the pages, as they stand.

const data_dir = 'docs-sql'
let client: pg.Client
before(async () => {
  client = new pg.Client({ connectionString: (await settingsOf(data_dir)).DATABASE_URL })
  await client.connect()
})
after(async () => {
  await client.end()
  await removeScratch(data_dir)
})

const used = new Set<string>()
function sqlOf(page: string, containing: string): string {
  const found = blocksIn('sql').filter((block) => block.page === page && block.code.includes(containing))
  assert.equal(found.length, 1, `${page} has one block with ${containing}`)
  const [{ code } = { code: '' }] = found
  used.add(page + code)
  return code
}
const statementsOf = (code: string) => code.split(/;\s*$/m).filter((text) => text.trim())

test('the copy of a record in a warehouse keeps the newest of two events, in any order', async () => {
  const write = sqlOf('how-to-mirror-a-warehouse.md', 'excluded.sequence')
  await client.query('CREATE SCHEMA warehouse; SET search_path = warehouse, public')
  await client.query(
    'CREATE TABLE warehouse.contacts (id bigint PRIMARY KEY, sequence bigint NOT NULL, data jsonb)',
  )
  for (const [sequence, name] of [
    [5, 'five'],
    [9, 'nine'],
    [7, 'seven'],
    [9, 'again'],
  ] as const)
    await client.query(write, [1, sequence, JSON.stringify({ name })])
  const { rows } = await client.query('SELECT sequence::int, data FROM warehouse.contacts')
  assert.deepEqual(rows, [{ sequence: 9, data: { name: 'nine' } }])
})

test('a delivery that arrives again inserts no row', async () => {
  const write = sqlOf('receiving-webhooks.md', 'received_deliveries')
  await client.query('CREATE TABLE received_deliveries (id text PRIMARY KEY)')
  assert.equal((await client.query(write, ['dlv_1'])).rowCount, 1)
  assert.equal((await client.query(write, ['dlv_1'])).rowCount, 0)
})

test('the role and the database of the installation are made, and take the settings for a pooler', async () => {
  // Other tests share the server, so the names are made unique.
  const name = `rapport_docs_${process.pid}`
  const named = (code: string) => code.replaceAll(/\brapport\b/g, name)
  try {
    for (const statement of statementsOf(named(sqlOf('operations.md', 'CREATE ROLE'))))
      await client.query(statement)
    for (const statement of statementsOf(named(sqlOf('operations.md', 'ALTER ROLE'))))
      await client.query(statement)
    const { rows } = await client.query(
      'SELECT pg_encoding_to_char(encoding) AS encoding FROM pg_database WHERE datname = $1',
      [name],
    )
    assert.deepEqual(rows, [{ encoding: 'UTF8' }])
    const { rows: settings } = await client.query('SELECT useconfig FROM pg_user WHERE usename = $1', [name])
    assert.ok(settings[0].useconfig.includes('synchronous_commit=on'), JSON.stringify(settings))
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name}`)
    await client.query(`DROP ROLE IF EXISTS ${name}`)
  }
})

test('the page on Citus distributes every table of a workspace, and the target of a foreign key first', async () => {
  const code = sqlOf('scaling.md', 'create_distributed_table')
  const distributed = [
    'companies',
    ...(code.split('ARRAY[')[1] ?? '').matchAll(/'([a-z_]+)'/g).map(([, name = '']) => name),
  ]
  const of_all = [...code.matchAll(/(?:reference_table\('|-- and |, )([a-z_]+)(?='\)|,|$)/gm)].map(
    ([, name = '']) => name,
  )
  const { rows: tables } = await client.query(`
    SELECT table_name::text AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'workspace_id'`)
  const wanted = tables.map(({ name }) => name).filter((name) => !of_all.includes(name))
  assert.deepEqual(distributed.toSorted(), wanted.toSorted())
  const { rows: keys } = await client.query(`
    SELECT conrelid::regclass::text AS name, confrelid::regclass::text AS target FROM pg_constraint WHERE contype = 'f'`)
  const late = keys.filter(
    ({ name, target }) =>
      distributed.indexOf(name) < distributed.indexOf(target) && distributed.includes(name),
  )
  assert.deepEqual(late, [])
})

test('every block of SQL is one that a test runs', () => {
  const others = blocksIn('sql').filter(({ page, code }) => !used.has(page + code))
  assert.deepEqual(
    others.map(({ page, code }) => `${page}: ${code.split('\n')[0]}`),
    [],
  )
})
