import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { placesOf, reassign } from '../../src/across/reassignment/reassign.ts'
import { transaction } from '../../src/db/db.ts'
import { runBatch } from '../../src/resources/batch/batch.ts'
import { type Writes, writesOf } from '../../src/resources/batch/items.ts'
import { contactRoom } from '../../src/resources/contacts/routes.ts'
import { rooms } from '../../src/resources/index.ts'
import { openOutbox } from '../outbox.ts'
import { until } from '../webhooks.ts'

const contacts = writesOf(contactRoom) as Writes

test('a record that somebody deletes while it is reassigned is left out, and the others are reassigned', async (t) => {
  const outbox = await openOutbox()
  t.after(() => outbox.close())
  const { db } = outbox
  const create = { op: 'create', data: { first_name: 'Ana', last_name: 'Ruiz' } }
  const made = await transaction(db, (tx) =>
    runBatch(tx, outbox.context(), contacts, [create, create, create], { atomic: true }),
  )
  const ids = made.map(({ id }) => id)
  await sql`UPDATE contacts SET owner_id = 'usr_gone'`.execute(db)
  const deleted = Promise.withResolvers<void>()
  const ends = Promise.withResolvers<void>()
  const deleting = transaction(db, async (tx) => {
    await runBatch(tx, outbox.context(), contacts, [{ op: 'delete', id: ids[1] }], { atomic: true })
    deleted.resolve()
    await ends.promise
  })
  await deleted.promise
  const reassigning = transaction(db, (tx) =>
    reassign(tx, outbox.context(), placesOf(rooms), { from_id: 'usr_gone', to_id: null }, 3),
  )
  await until(async () => {
    const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
    return rows[0]?.n
  }, 1)
  ends.resolve()
  await Promise.all([deleting, reassigning])
  const owners = await db.selectFrom('contacts').select(['id', 'owner_id']).orderBy('id').execute()
  assert.deepEqual(
    owners.map(({ owner_id }) => owner_id),
    [null, 'usr_gone', null],
  )
})
