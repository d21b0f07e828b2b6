import { isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { openAt, startsOf } from './availability.ts'
import { type Calendar, calendarsOf, freeCalendars, isFreeFor } from './hosts.ts'
import type { BookingPage, ExplainedSlot, SlotReason } from './schema.ts'

const minute_ms = 60_000

type Asked = {
  /** The starts of the page in this window; or one time of any kind. */
  window: { from_ms: number; to_ms: number } | { at_ms: number }
  now_ms: number
  /** Whether the caller may read appointments. */
  shows_records: boolean
}

/** Why a page offers each start within its opening hours, or does not; or why it offers one time. */
export async function explainSlots(
  db: Db,
  workspace_id: number,
  page: BookingPage,
  { window, now_ms, shows_records }: Asked,
): Promise<ExplainedSlot[]> {
  const starts = 'at_ms' in window ? [window.at_ms] : startsOf(page, window.from_ms, window.to_ms)
  const [first, last] = [starts[0], starts.at(-1)]
  if (first === undefined || last === undefined) return []
  const duration_ms = page.duration_minutes * minute_ms
  const buffer_ms = page.buffer_minutes * minute_ms
  const reach = { from_ms: first - buffer_ms, to_ms: last + duration_ms + buffer_ms }
  const calendars = await calendarsOf(db, workspace_id, page, reach)
  return starts.map((start_ms) => {
    const end_ms = start_ms + duration_ms
    const [from_ms, to_ms] = [start_ms - buffer_ms, end_ms + buffer_ms]
    const closed = openAt(page, start_ms, now_ms).map((code) => reasonOf(code))
    const busy = calendars.flatMap((calendar) => takenReasons(calendar, { start_ms, end_ms, from_ms, to_ms }))
    const nobody = calendars.length ? [] : [reasonOf('no_host')]
    return {
      start_at: isoTime(start_ms),
      end_at: isoTime(end_ms),
      free: closed.length === 0 && isFreeFor(page, calendars, from_ms, to_ms),
      host_ids: freeCalendars(calendars, from_ms, to_ms).flatMap(({ user_id }) => user_id ?? []),
      reasons: [...closed, ...nobody, ...busy].map((one) => (shows_records ? one : { ...one, record: null })),
    }
  })
}

const reasonOf = (code: SlotReason['code'], more: Partial<SlotReason> = {}): SlotReason => ({
  code,
  user_id: null,
  record: null,
  calendar_id: null,
  from: null,
  to: null,
  ...more,
})

type Slot = { start_ms: number; end_ms: number; from_ms: number; to_ms: number }

/** The reasons why a time with its buffers is taken in a calendar. */
function takenReasons(
  { user_id, taken, stale_calendar_id }: Calendar,
  { start_ms, end_ms, from_ms, to_ms }: Slot,
): SlotReason[] {
  const stale =
    stale_calendar_id === null
      ? []
      : [reasonOf('stale_calendar', { user_id, calendar_id: stale_calendar_id })]
  const within = taken.filter((one) => one.start_ms < to_ms && one.end_ms > from_ms)
  return [
    ...stale,
    ...within.map((one) => {
      const is_at = one.start_ms < end_ms && one.end_ms > start_ms
      const code = one.calendar_id === null ? 'appointment' : 'busy_calendar'
      return reasonOf(is_at ? code : 'buffer', {
        user_id,
        record: one.appointment_id === null ? null : { kind: 'appointments', id: one.appointment_id },
        calendar_id: one.calendar_id,
        from: isoTime(one.start_ms),
        to: isoTime(one.end_ms),
      })
    }),
  ]
}
