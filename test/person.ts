import { sql } from 'kysely'
import type { Database } from '../src/db/db.ts'

type Person = {
  contact_id: number
  /** The number of the first event: two histories of one installation need numbers of their own. */
  first?: number
  /** Deals that refer to the contact. */
  deals: number
  /** Events of the contact, each with an entry in the audit log and a delivery with an attempt. */
  events: number
  /** How long the text is that each event and each side of an entry carries. */
  bytes: number
  /** The webhook of the deliveries. */
  webhook_id: string
}

/**
 * Writes a contact's history to the database: the records that refer to it, and its events, audit entries and
 * deliveries.
 */
export async function seedHistory({ db }: Pick<Database, 'db'>, person: Person): Promise<void> {
  const { contact_id, first = 1, deals, events, bytes, webhook_id } = person
  const numbers = (count: number) =>
    sql`WITH RECURSIVE n (i) AS (SELECT ${sql.lit(first)} UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(first + count - 1)})`
  const now = '2026-11-01T08:30:00.000Z'
  const id = (prefix: string) => sql`${sql.lit(`${prefix}_0001`)} || CAST(1000000000 + i AS text)`
  const filler = 'Ada Lovelace wrote this. '.repeat(bytes / 25)
  const told = JSON.stringify({ first_name: 'Ada', last_name: 'Lovelace', title: filler })
  const payload = JSON.stringify({
    id: 'e',
    event: 'contact.updated',
    timestamp: now,
    data: { id: contact_id, ...JSON.parse(told) },
  })
  await db.transaction().execute(async (tx) => {
    await sql`INSERT INTO deals (workspace_id, name, sort_name, stage, contact_id, created_at, updated_at)
      ${numbers(deals)} SELECT 1, 'Deal', 'deal', 'new_lead', ${sql.lit(contact_id)}, ${now}, ${now} FROM n`.execute(
      tx,
    )
    await sql`INSERT INTO events (id, workspace_id, event, occurred_at, record_id, payload)
      ${numbers(events)} SELECT ${id('evt')}, 1, 'contact.updated', ${now}, ${sql.lit(contact_id)}, ${payload} FROM n`.execute(
      tx,
    )
    await sql`INSERT INTO audit_log (workspace_id, occurred_at, actor_kind, action, kind, record_id, before, after)
      ${numbers(events)} SELECT 1, ${now}, 'service', 'updated', 'contacts', ${String(contact_id)}, ${told}, ${told} FROM n`.execute(
      tx,
    )
    await sql`INSERT INTO webhook_deliveries
      (id, workspace_id, webhook_id, event_id, event, status, attempt_count, created_at, finished_at)
      ${numbers(events)} SELECT ${id('dlv')}, 1, ${webhook_id}, ${id('evt')}, 'contact.updated', 'succeeded', 1, ${now}, ${now} FROM n`.execute(
      tx,
    )
    await sql`INSERT INTO webhook_attempts
      (workspace_id, delivery_id, number, started_at, duration_ms, request_url, request_headers, response_status, response_headers, response_body)
      ${numbers(events)} SELECT 1, ${id('dlv')}, 1, ${now}, 1, 'http://127.0.0.1:9/', '{}', 200, '{}', ${filler.slice(0, 16_000)} FROM n`.execute(
      tx,
    )
  })
}
