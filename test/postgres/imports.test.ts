import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '../../src/db/db.ts'
import { runImports } from '../../src/imports/run.ts'
import { rooms } from '../../src/resources/index.ts'
import { openScratch } from '../engine.ts'
import { startRapport, turnableClock } from '../harness.ts'
import { upload } from '../imports.ts'
import { join, setUp } from '../people.ts'
import { until } from '../webhooks.ts'

test('an import that the database refuses for a while goes on after it, however often it was tried', async (t) => {
  // This test runs the import itself.
  const rapport = await startRapport({ roles: ['api'] })
  t.after(() => rapport.close())
  const { db, close } = await openScratch(rapport.data_dir)
  t.after(close)
  // As while another program holds a lock on the table.
  await sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'canceling statement due to lock timeout' USING ERRCODE = '55P03'; END $$`.execute(db)
  await sql`CREATE TRIGGER refused BEFORE INSERT ON companies EXECUTE FUNCTION refuse()`.execute(db)
  const { id } = (await upload(rapport, '?resource=companies', 'name\nNordwind\n')).body.data
  const clock = turnableClock(Date.now() + 60_000)
  const run = () => runImports({ db, clock, rooms, stopping: new AbortController().signal })
  for (let times = 1; times <= 8; times++) {
    await assert.rejects(run(), { code: '55P03' })
    // The next try comes after the lease.
    await run()
    clock.advance(10_000)
  }
  await sql`DROP TRIGGER refused ON companies`.execute(db)
  await run()
  const { status, created, message } = (await rapport.call('GET', `/api/v1/imports/${id}`)).body.data
  assert.deepEqual([status, created, message], ['succeeded', 1, null])
})

test('the removal of a member waits for the rows that an import of theirs is writing, and no later row is theirs', async (t) => {
  const rapport = await startRapport({ roles: ['api'] })
  t.after(() => rapport.close())
  const { db, close } = await openScratch(rapport.data_dir)
  t.after(close)
  const ada = await setUp(rapport)
  const grace = await join(ada, rapport.url, 'admin')
  await ada('POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz', email: 'ana@acme.example' })
  const file = 'first_name,last_name,email\nBo,Li,bo@acme.example\nAna,Roy,ana@acme.example\n'
  const { id } = (await upload(rapport, '?resource=contacts&on_match=update&match=email', file)).body.data
  await sql`UPDATE imports SET created_by = ${grace.id}`.execute(db)
  const owned = async () => {
    const rows = await db.selectFrom('contacts').select('id').where('owner_id', '=', grace.id).execute()
    return rows.length
  }
  // Holds up the import.
  const locked = Promise.withResolvers<void>()
  const ends = Promise.withResolvers<void>()
  const holding = transaction(db, async (tx) => {
    await sql`SELECT 1 FROM contacts FOR UPDATE`.execute(tx)
    locked.resolve()
    await ends.promise
  })
  await locked.promise
  const waiting = async () => {
    const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
    return rows[0]?.n
  }
  const clock = turnableClock(Date.now() + 60_000)
  const importing = runImports({ db, clock, rooms, stopping: new AbortController().signal })
  await until(waiting, 1)
  let is_removed = false
  const removing = ada('DELETE', `/members/${grace.id}`).then(async ({ status }) => {
    is_removed = true
    return { status, owned: await owned() }
  })
  await until(waiting, (n) => n === 2 || is_removed)
  ends.resolve()
  const [removed] = await Promise.all([removing, importing, holding])
  const done = (await rapport.call('GET', `/api/v1/imports/${id}`)).body.data
  assert.deepEqual([removed.status, removed.owned, await owned()], [200, 1, 1])
  assert.deepEqual([done.created, done.updated], [1, 1])
})
