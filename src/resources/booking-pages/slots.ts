import { day_ms } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { freeSlots, type IsClear, isFreeSlot, type Slot, type SlotWindow } from './availability.ts'
import { type Calendar, calendarsOf, isFreeFor } from './hosts.ts'
import type { BookingPage } from './schema.ts'

const minute_ms = 60_000

type Window = Omit<SlotWindow, 'limit'>

/**
 * The free slots of a page that start in the window. Times are milliseconds since 1970. The time of the appointment
 * `except_id`, which is to be moved, counts as free.
 */
export const offeredSlots = async (
  db: Db,
  workspace_id: number,
  page: BookingPage,
  window: Window,
  except_id?: number,
): Promise<Slot[]> => (await readSlots(db, workspace_id, page, window, except_id)).slots

/** The result of a search for free times. `looked_until_ms` is where the search gave up, or null if it reached the end. */
export type Search = { slots: Slot[]; looked_until_ms: number | null }

const steps_in_days = [7, 31]
const later_steps_in_days = 92
// One request may read this many appointments, and those of one more step.
const max_read = 10_000

/**
 * The next `limit` slots from a time on. Most pages have free slots within days, so the search reads appointments step by
 * step. It gives up after reading 10,000 of them.
 */
export async function nextSlots(
  db: Db,
  workspace_id: number,
  page: BookingPage,
  { from_ms, to_ms, now_ms, limit }: SlotWindow & { limit: number },
  except_id?: number,
): Promise<Search> {
  const end_ms = Math.min(to_ms, endOf(page, now_ms))
  const slots: Slot[] = []
  let start_ms = Math.max(from_ms, now_ms)
  let read = 0
  for (let step = 0; start_ms < end_ms && slots.length < limit; step++) {
    if (read > max_read) return { slots, looked_until_ms: start_ms }
    const until_ms = Math.min(end_ms, start_ms + (steps_in_days[step] ?? later_steps_in_days) * day_ms)
    const window = { from_ms: start_ms, to_ms: until_ms, now_ms }
    const found = await readSlots(db, workspace_id, page, window, except_id)
    slots.push(...found.slots.slice(0, limit - slots.length))
    read += found.read
    start_ms = until_ms
  }
  return { slots, looked_until_ms: null }
}

// The horizon, plus two days: its last day ends later in other zones.
const endOf = ({ horizon_days }: BookingPage, now_ms: number) => now_ms + (horizon_days + 2) * day_ms

async function readSlots(
  db: Db,
  workspace_id: number,
  page: BookingPage,
  { from_ms, to_ms, now_ms }: Window,
  except_id?: number,
): Promise<{ slots: Slot[]; read: number }> {
  const window = { from_ms: Math.max(from_ms, now_ms), to_ms: Math.min(to_ms, endOf(page, now_ms)), now_ms }
  if (window.from_ms >= window.to_ms) return { slots: [], read: 0 }
  const calendars = await calendarsOf(db, workspace_id, page, reachOf(page, window), { except_id })
  const read = calendars.reduce((sum, { taken }) => sum + taken.length, 0)
  return { slots: freeSlots(page, checkOf(page, calendars), window), read }
}

// A slot that begins at the end of the window ends later.
function reachOf(
  { buffer_minutes, duration_minutes }: BookingPage,
  { from_ms, to_ms }: Omit<Window, 'now_ms'>,
) {
  const reach_ms = (buffer_minutes + duration_minutes) * minute_ms
  return { from_ms: from_ms - reach_ms, to_ms: to_ms + reach_ms }
}

const checkOf =
  (page: BookingPage, calendars: readonly Calendar[]): IsClear =>
  (start_ms, end_ms) =>
    isFreeFor(page, calendars, start_ms, end_ms)

/** Whether a page offers this start. To book it, ask in the booking's transaction while holding the page's calendars. */
export async function isOffered(
  db: Db,
  workspace_id: number,
  page: BookingPage,
  start_ms: number,
  now_ms: number,
  except_id?: number,
): Promise<boolean> {
  const reach = reachOf(page, { from_ms: start_ms, to_ms: start_ms })
  const calendars = await calendarsOf(db, workspace_id, page, reach, { except_id })
  return isFreeSlot(page, checkOf(page, calendars), start_ms, now_ms)
}

/** Whether a start fits the rules of a page: open, after the notice, within the horizon. It may be taken. */
export const fitsRules = (page: BookingPage, start_ms: number, now_ms: number): boolean =>
  isFreeSlot(page, () => true, start_ms, now_ms)
