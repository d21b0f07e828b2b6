import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, removeScratch } from '../engine.ts'

// The rules that allow sharding by workspace. These tables have no workspace, so every machine would have them. Keys,
// sessions and people are among them: they are read before the workspace is known, and people have several.
const of_all = [
  'api_keys',
  'schema_migrations',
  'settings',
  'workspaces',
  'users',
  'memberships',
  'sessions',
  'invitations',
  'sign_in_failures',
  'saved_views',
  'reset_links',
  'calendar_feeds',
  'mail_server',
  'mail_causes',
]

const data_dir = 'sharding'
let database: Awaited<ReturnType<typeof openScratch>>
before(async () => {
  database = await openScratch(data_dir)
})
after(async () => {
  await database.close()
  await removeScratch(data_dir)
})

type Constraint = { table: string; kind: string; columns: string[]; target: string | null }

async function constraints(): Promise<Constraint[]> {
  const { rows } = await sql<Constraint>`
    SELECT conrelid::regclass::text AS "table", contype AS kind, confrelid::regclass::text AS target,
      ARRAY(SELECT a.attname::text FROM unnest(conkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.number ORDER BY place) AS columns
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'u', 'f')`.execute(
    database.db,
  )
  return rows
}

test('every key of a record, and every reference to one, begins with its workspace', async () => {
  const all = await constraints()
  assert.ok(all.length > 15)
  for (const { table, columns } of all)
    if (!of_all.includes(table)) assert.equal(columns[0], 'workspace_id', `${table} (${columns.join(', ')})`)
})

test('no record refers to a table that is not of its workspace', async () => {
  const crossing = (await constraints()).filter(
    ({ table, target, kind }) => kind === 'f' && of_all.includes(table) !== of_all.includes(target ?? ''),
  )
  assert.deepEqual(crossing, [])
})

test('every table has a primary key', async () => {
  const { rows } = await sql<{ name: string }>`
    SELECT relname::text AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`.execute(database.db)
  const keyed = (await constraints()).filter(({ kind }) => kind === 'p').map(({ table }) => table)
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => !keyed.includes(name)),
    [],
  )
})
