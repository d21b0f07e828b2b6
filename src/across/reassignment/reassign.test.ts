// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { transaction } from '../../db/db.ts'
import { conflict } from '../../errors.ts'
import { rooms } from '../../resources/index.ts'
import { runWork } from '../../work/run.ts'
import { placesOf, reassign, reassignmentWork } from './reassign.ts'

const handover = { from_id: 'usr_gone', to_id: null }

/** Makes records of a member who has left. */
async function make({ db, context }: Outbox, table: string, data: object, count: number): Promise<void> {
  const { operations } = rooms.find(({ resource }) => resource.table === table) ?? {}
  await transaction(db, async (tx) => {
    for (let n = 0; n < count; n++) await operations?.create(tx, context(), data, [])
    await sql`UPDATE ${sql.table(table)} SET owner_id = 'usr_gone'`.execute(tx)
  })
}

test('a reassignment continues in a release that has the kinds of records in another order', async (t) => {
  const outbox = await openOutbox()
  t.after(() => outbox.close())
  const { db, clock } = outbox
  await make(outbox, 'contacts', { first_name: 'Ana', last_name: 'Ruiz' }, 60)
  const times = { start_at: '2026-12-01T10:00:00.000Z', end_at: '2026-12-01T10:30:00.000Z' }
  await make(outbox, 'appointments', { title: 'Demo', ...times }, 3)
  await transaction(db, (tx) => reassign(tx, outbox.context(), placesOf(rooms), handover, 63))
  const later = reassignmentWork(rooms.toReversed())
  await runWork({ db, clock }, later as never, AbortSignal.timeout(60_000))
  for (const table of ['contacts', 'appointments'] as const) {
    const left = await db.selectFrom(table).select('id').where('owner_id', '=', 'usr_gone').execute()
    assert.deepEqual(left, [], table)
  }
})

test('a reassignment leaves a record whose new owner is busy, and no record for another reason', async (t) => {
  const outbox = await openOutbox()
  t.after(() => outbox.close())
  const { db } = outbox
  await make(outbox, 'contacts', { first_name: 'Ana', last_name: 'Ruiz' }, 2)
  const given = (reason: 'host_busy' | 'unique_value_taken') => {
    const change = () => Promise.reject(conflict(reason, 'It cannot be changed.'))
    const places = placesOf(rooms).map((place) => ({ ...place, change }))
    return transaction(db, (tx) => reassign(tx, outbox.context(), places, handover, 2))
  }
  assert.equal(await given('host_busy'), 0)
  await assert.rejects(given('unique_value_taken'), { reason: 'unique_value_taken' })
})
