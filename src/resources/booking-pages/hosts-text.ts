import { sql } from 'kysely'
import { staleSince } from '../../db/busy.ts'
import type { Db } from '../../db/db.ts'
import { jsonObject, jsonOf } from '../../db/statements/json-text.ts'
import { engineOf } from '../../db/tx.ts'

/** The hosts of a page as JSON text: those of its column, each with since when a calendar of theirs is stale. */
export function hostsText(db: Db) {
  const is_sqlite = engineOf(db) === 'sqlite'
  const user_id = sql`(h.value ->> 'user_id')`
  const host = jsonObject([
    { name: 'user_id', text: jsonOf(db, user_id) },
    { name: 'weight', text: sql`(h.value ->> 'weight')` },
    { name: 'stale_since', text: staleSince(db, sql.ref('booking_pages.workspace_id'), user_id) },
  ])
  const hosts = sql.ref('booking_pages.hosts')
  const each = is_sqlite
    ? sql`json_each(${hosts}) AS h`
    : sql`json_array_elements(CAST(${hosts} AS json)) WITH ORDINALITY AS h(value, key)`
  return sql`(SELECT concat('[', string_agg(${host}, ',' ORDER BY h.key), ']') FROM ${each})`
}
