import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { runImports } from '../../src/across/imports/run.ts'
import { rooms } from '../../src/resources/index.ts'
import { openScratch } from '../engine.ts'
import { startRapport, turnableClock } from '../harness.ts'
import { upload } from '../imports.ts'

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
    clock.advance(10_000)
  }
  await sql`DROP TRIGGER refused ON companies`.execute(db)
  await run()
  const { status, created, message } = (await rapport.call('GET', `/api/v1/imports/${id}`)).body.data
  assert.deepEqual([status, created, message], ['succeeded', 1, null])
})
