import { sql } from 'kysely'
import type { Order } from '../db/lists/orders.ts'

/** The orders by the last contact, the next step and the value of open deals. A record without a time comes after every time. */
export const fact_orders: readonly Order[] = [
  [{ field: 'last_contacted_at', by: sql`coalesce(last_contacted_at, 'z')` }],
  [{ field: 'next_activity_at', by: sql`coalesce(next_activity_at, 'z')` }],
  [{ field: 'open_deals_value', by: sql.ref('open_deals_units'), numeric: true }],
]
