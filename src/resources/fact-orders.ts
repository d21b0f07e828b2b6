import { sql } from 'kysely'
import type { Order } from '../db/lists/orders.ts'

// A cursor holds integers below 2^53. Higher sums are in the order of the ids.
const open_deals = sql.raw(
  `(CASE WHEN open_deals_units < ${Number.MAX_SAFE_INTEGER} THEN open_deals_units ELSE ${Number.MAX_SAFE_INTEGER} END)`,
)

/** The orders by the last contact, the next step and the value of open deals. A record without a time comes after every time. */
export const fact_orders: readonly Order[] = [
  [{ field: 'last_contacted_at', by: sql`coalesce(last_contacted_at, 'z')` }],
  [{ field: 'next_activity_at', by: sql`coalesce(next_activity_at, 'z')` }],
  [{ field: 'open_deals_value', by: open_deals, numeric: true }],
]
