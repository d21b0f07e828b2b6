// runs: once, apart
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startRapport } from '../../../test/harness.ts'
import { beside } from '../../../test/keys.ts'
import { bestOfTen, type MeasuredWithSlowness, measureWithSlowness } from '../../../test/statements.ts'
import { transaction } from '../../db/db.ts'

test('a merge of a contact with 3,000 deals holds nobody up for 100 ms, and neither does its undo', async (t) => {
  const rapport = await startRapport()
  t.after(() => rapport.close())
  const make = async () => {
    const reply = await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: 'Lovelace' })
    return reply.body.data.id as number
  }
  const [survivor, other] = [await make(), await make()]
  const now = '2026-11-01T08:30:00.000Z'
  await beside(rapport.data_dir, (db) =>
    transaction(db, (tx) =>
      sql`INSERT INTO deals (workspace_id, name, sort_name, stage, contact_id, created_at, updated_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        SELECT 1, 'Deal', 'deal', 'new_lead', ${other}, ${now}, ${now} FROM n`.execute(tx),
    ),
  )

  let merges = 0
  const measure = async () => {
    const merging = await measureWithSlowness(async () => {
      const path = `/api/v1/contacts/${survivor}/merge`
      assert.equal((await rapport.call('POST', path, { from_ids: [other] })).status, 200)
    })
    const undoing = await measureWithSlowness(async () => {
      const { body } = await rapport.call('POST', `/api/v1/merges/${++merges}/undo`)
      assert.deepEqual(body.data, { restored: 3001, left: [] })
    })
    return [merging, undoing]
  }
  const isGood = (all: MeasuredWithSlowness[]) =>
    all.every(
      ({ slowest, longest_turn_ms, slowness }) =>
        slowest.cpu_ms < 50 * slowness && longest_turn_ms < 100 * slowness,
    )
  const measured = await bestOfTen(measure, isGood)
  assert.ok(isGood(measured), JSON.stringify(measured))
})
