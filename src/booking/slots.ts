import { isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { freeSlots, isFreeSlot, type Slot, type SlotWindow } from './availability.ts'
import { busyTimes } from './queries.ts'
import type { BookingPage } from './schema.ts'

const minute_ms = 60_000
const day_ms = 86_400_000

/**
 * The slots of a page that start in the window and can be booked; times in milliseconds since 1970. `except_id` is an
 * appointment whose own time counts as free, because it is to be moved.
 */
export async function offeredSlots(
  db: Db,
  workspace_id: number,
  page: BookingPage,
  { from_ms, to_ms, now_ms, limit }: SlotWindow,
  except_id?: number,
): Promise<Slot[]> {
  // Nothing is offered beyond the horizon, whose last day may end so much later elsewhere.
  const window = {
    from_ms: Math.max(from_ms, now_ms),
    to_ms: Math.min(to_ms, now_ms + (page.horizon_days + 2) * day_ms),
    now_ms,
    ...(limit !== undefined && { limit }),
  }
  if (window.from_ms >= window.to_ms) return []
  const reach_ms = (page.buffer_minutes + page.duration_minutes) * minute_ms
  const busy = await busyTimes(
    db,
    workspace_id,
    page.id,
    isoTime(window.from_ms - reach_ms),
    isoTime(window.to_ms + reach_ms),
    except_id,
  )
  return freeSlots(page, busy, window)
}

/** Whether exactly this start is offered. To book it, ask in the booking's transaction, with the page's times held. */
export async function isOffered(
  db: Db,
  workspace_id: number,
  page: BookingPage,
  start_ms: number,
  now_ms: number,
  except_id?: number,
): Promise<boolean> {
  const buffer_ms = page.buffer_minutes * minute_ms
  const from = isoTime(start_ms - buffer_ms)
  const to = isoTime(start_ms + page.duration_minutes * minute_ms + buffer_ms)
  const busy = await busyTimes(db, workspace_id, page.id, from, to, except_id)
  return isFreeSlot(page, busy, start_ms, now_ms)
}
