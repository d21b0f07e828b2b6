import { sql } from 'kysely'
import { type Database, transaction } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { openBulk } from '../src/db/statements/bulk.ts'
import { engineOf } from '../src/db/tx.ts'
import { contextOf } from '../src/events/context.ts'
import type { EventDefinition } from '../src/events/define.ts'
import { emit, readSubscribers } from '../src/events/emit.ts'
import { openScratch } from './engine.ts'
import { beside } from './keys.ts'

type Status = 'pending' | 'failed' | 'succeeded' | 'cancelled'

type Backlog = {
  webhook_id: string
  count: number
  status: Status
  event?: string
  /** The first delivery's number: two backlogs of one installation need numbers of their own. */
  first?: number
  created_at?: string
  /** The due time of pending deliveries, in milliseconds since 1970. */
  run_at_ms?: number
}

/** Opens a data folder's database, with its tables, for rows that are written past the API; the caller closes it. */
export async function openSeed(data_dir: string): Promise<Database> {
  const database = await openScratch(data_dir)
  await migrate(database)
  return database
}

/**
 * Writes many deliveries of one webhook, with an event each, and their totals. It uses a few statements, because the
 * API would take minutes. Pending deliveries are in the queue, too.
 */
export async function seedDeliveries({ db }: Pick<Database, 'db'>, backlog: Backlog): Promise<void> {
  const { webhook_id, count, status, event = 'company.created', first = 1 } = backlog
  const { created_at = '2026-11-01T08:30:00.000Z', run_at_ms = 0 } = backlog
  const finished_at = status === 'pending' ? null : created_at
  const last = first + count - 1
  const numbers = sql`WITH RECURSIVE n (i) AS (SELECT ${sql.lit(first)} UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(last)})`
  // Below all ids of now, and in the order of the numbers.
  const id = (prefix: string) => sql`${sql.lit(`${prefix}_0000`)} || CAST(1000000000 + i AS text)`
  await db.transaction().execute(async (tx) => {
    await sql`INSERT INTO events (id, workspace_id, event, occurred_at, record_id, payload)
      ${numbers} SELECT ${id('evt')}, 1, ${event}, ${created_at}, i, '{"id":"e","event":"e","data":{"id":1}}' FROM n`.execute(
      tx,
    )
    await sql`INSERT INTO webhook_deliveries
      (id, workspace_id, webhook_id, event_id, event, status, attempt_count, next_attempt_at, created_at, finished_at)
      ${numbers} SELECT ${id('dlv')}, 1, ${webhook_id}, ${id('evt')}, ${event}, ${status}, 0,
        CAST(${status === 'pending' ? created_at : null} AS text), ${created_at}, CAST(${finished_at} AS text) FROM n`.execute(
      tx,
    )
    if (status === 'pending')
      await sql`INSERT INTO webhook_queue (delivery_id, workspace_id, webhook_id, kind, run_at_ms, tries)
        ${numbers} SELECT ${id('dlv')}, 1, ${webhook_id}, 'event', ${sql.lit(run_at_ms)}, 0 FROM n`.execute(
        tx,
      )
    const names = ['', `.webhook_id=${webhook_id}`, `.event=${event}`, `.status=${status}`]
    for (const name of names)
      await sql`INSERT INTO record_counts (workspace_id, name, slot, n) VALUES (1, ${`deliveries${name}`}, 0, ${count})
        ON CONFLICT (workspace_id, name, slot) DO UPDATE SET n = record_counts.n + excluded.n`.execute(tx)
  })
  // As autovacuum does within a minute of such an insert.
  if (engineOf(db) === 'postgres') await sql`VACUUM ANALYZE webhook_queue`.execute(db)
}

const batch = 500

/** Emits an event for each record, with its deliveries, as batches do, beside a running service. */
export async function emitMany(
  data_dir: string,
  definition: EventDefinition,
  records: object[],
  workspace_id = 1,
): Promise<void> {
  const now_ms = Date.now()
  const clock = { now: () => now_ms, elapsed: () => now_ms }
  const actor = { kind: 'service', id: null } as const
  const context = contextOf(clock, { workspace_id, actor, request_id: null })
  await beside(data_dir, async (db) => {
    for (let at = 0; at < records.length; at += batch)
      await transaction(db, async (tx) => {
        readSubscribers(tx, workspace_id, [definition.name])
        const bulk = openBulk(tx)
        const some = records.slice(at, at + batch)
        await Promise.all(some.map((one, index) => emit(bulk.member(index), context, definition, one)))
        await bulk.flush()
      })
  })
}
