// runs: timed
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '../src/db/db.ts'
import { dataOf } from './envelope.ts'
import { useRapport } from './harness.ts'
import { beside } from './keys.ts'
import { bestOfTen } from './statements.ts'

const rapport = useRapport()
const post = async (path: string, body: object) => dataOf(await rapport.call('POST', `/api/v1${path}`, body))

/** Gives a contact activities of the same moment; each second one is done, or none. */
const fill = (contact_id: number, { count, time, done }: { count: number; time: string; done: boolean }) =>
  beside(rapport.data_dir, (db) =>
    transaction(db, (tx) =>
      sql`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
        INSERT INTO activities (workspace_id, type, subject, due_at, completed_at, contact_id, created_at, updated_at)
        SELECT 1, 'call', 'Call', ${time}, ${done ? sql`CASE WHEN n % 2 = 0 THEN ${time} END` : sql`NULL`},
          ${contact_id}, ${time}, ${time} FROM numbers`.execute(tx),
    ),
  )

/** A contact with activities, and the id of one of them. */
async function contactWith(last_name: string, activities: Parameters<typeof fill>[1]): Promise<number> {
  const { id } = await post('/contacts', { first_name: 'Ana', last_name })
  await fill(id, activities)
  return (await post('/activities', { type: 'task', subject: 'Offer', contact_id: id })).id
}

test('a change of an activity takes at most half longer for a contact with 60,000, and for one whom nobody called', async (t) => {
  // The latest are those of the first contact.
  const few = await contactWith('Few', { count: 2, time: '2026-11-03T09:00:00.000Z', done: true })
  const many = await contactWith('Many', { count: 60_000, time: '2026-11-02T09:00:00.000Z', done: true })
  const none = await contactWith('None', { count: 1, time: '2026-11-02T09:00:00.000Z', done: false })
  let minute = 0
  async function time(id: number): Promise<number> {
    const begun = performance.now()
    for (let n = 0; n < 20; n++) {
      const due_at = new Date(Date.UTC(2026, 9, 1, 0, ++minute)).toISOString()
      dataOf(await rapport.call('PUT', `/api/v1/activities/${id}`, { due_at }))
    }
    return performance.now() - begun
  }
  await time(few)
  for (const id of [many, none]) {
    const ratio = await bestOfTen(
      async () => {
        const few_ms = await time(few)
        return (await time(id)) / few_ms
      },
      (one) => one <= 1.5,
    )
    t.diagnostic(`${ratio.toFixed(2)} times`)
    assert.ok(ratio <= 1.5, `${ratio} times`)
  }
})
