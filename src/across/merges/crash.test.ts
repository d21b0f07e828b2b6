// runs: both
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { type Service, startService } from '../../../test/faults/service.ts'
import { beside } from '../../../test/keys.ts'
import { scratchFolder } from '../../../test/process.ts'
import { until } from '../../../test/webhooks.ts'
import { transaction } from '../../db/db.ts'

const deals = 1500

/** A service with two contacts, of which one has many deals. */
async function fill(t: TestContext) {
  const service = await startService(scratchFolder(t))
  const make = async () => {
    const reply = await service.call('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: 'Lovelace' })
    return reply.body.data.id as number
  }
  const [survivor, other] = [await make(), await make()]
  const now = '2026-11-01T08:30:00.000Z'
  await beside(service.data_dir, (db) =>
    transaction(db, (tx) =>
      sql`INSERT INTO deals (workspace_id, name, sort_name, stage, contact_id, created_at, updated_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(deals)})
        SELECT 1, 'Deal', 'deal', 'new_lead', ${sql.lit(other)}, ${sql.lit(now)}, ${sql.lit(now)} FROM n`.execute(
        tx,
      ),
    ),
  )
  return { service, survivor, other }
}

/** The number of deals of each contact, by the database: the list shows a stored total. */
const dealsOf = (service: Service, id: number) =>
  beside(service.data_dir, async (db) => {
    const { rows } = await sql<{
      n: number
    }>`SELECT count(*) AS n FROM deals WHERE contact_id = ${id}`.execute(db)
    return Number(rows[0]?.n)
  })

/** Sends a request, kills the process when some deals have moved to a contact, and starts it again. */
async function breakOff(t: TestContext, service: Service, to: number, path: string, body?: object) {
  service.call('POST', path, body).catch(() => {})
  await until(
    () => dealsOf(service, to),
    (n) => n > 0,
  )
  await service.end('SIGKILL')
  // The next process goes on at once.
  const moved = await dealsOf(service, to)
  assert.ok(moved < deals, 'it was complete before the kill')
  const next = await startService(service.data_dir, { key: service.key })
  t.after(() => next.end('SIGKILL'))
  return next
}

test('a merge whose process is killed is completed, and so is its undo, with one event for each record that moved', async (t) => {
  const { service, survivor, other } = await fill(t)
  const path = `/api/v1/contacts/${survivor}/merge`
  const second = await breakOff(t, service, survivor, path, { from_ids: [other] })
  const gone = await until(() => second.call('GET', `/api/v1/contacts/${other}`), { status: 404 })
  assert.equal(gone.body.error.merged_into_id, survivor)
  assert.equal(await dealsOf(second, survivor), deals)
  const [{ id, status }] = (await second.call('GET', '/api/v1/merges')).body.data
  assert.equal(status, 'done')

  const third = await breakOff(t, second, other, `/api/v1/merges/${id}/undo`)
  await until(async () => (await third.call('GET', '/api/v1/merges')).body.data[0].status, 'undone')
  assert.deepEqual([await dealsOf(third, survivor), await dealsOf(third, other)], [0, deals])
  const { body } = await third.call('POST', `/api/v1/merges/${id}/undo`)
  assert.deepEqual(body.data, { restored: deals + 1, left: [] })
  const events = await beside(third.data_dir, async (db) => {
    const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM events
      WHERE event = 'deal.updated' GROUP BY record_id`.execute(db)
    return new Set(rows.map(({ n }) => Number(n)))
  })
  assert.deepEqual([...events], [2])
})
