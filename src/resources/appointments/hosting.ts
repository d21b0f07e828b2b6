import type { Tx } from '../../db/db.ts'
import { conflict } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { chooseHosts, lockCalendars } from '../booking-pages/hosts.ts'
import { findHosting, type Hosting } from '../booking-pages/queries.ts'
import { findStored } from './queries.ts'
import type { Appointment, AppointmentFields } from './schema.ts'

// The hosts of an appointment on a booking page with hosts. The page is locked before (lockCalendars).

type Who = Pick<Context, 'workspace_id'>
/** The owner and the hosts that an appointment gets. */
export type Received = { owner_id?: string | null; host_ids?: string[] }

const nobodyFree = () => conflict('host_busy', 'No host of the booking page is free at this time.')

/** The hosts of a new appointment: nothing on a page without hosts. 409 if they are busy. */
export async function hostsOfNew(
  tx: Tx,
  { workspace_id }: Who,
  values: AppointmentFields,
  buffer_minutes = 0,
): Promise<Received> {
  const page =
    values.booking_page_id === null ? null : await findHosting(tx, workspace_id, values.booking_page_id)
  if (!page?.hosts.length) return {}
  const { owner_id } = values
  const host_ids = await chooseHosts(tx, workspace_id, page, values, { owner_id, buffer_minutes })
  if (!host_ids) throw nobodyFree()
  return { owner_id: host_ids[0] ?? null, host_ids }
}

/** The host of an appointment of an archive is its owner, on a page with hosts. */
export async function hostsOfArchived(
  tx: Tx,
  { workspace_id }: Who,
  { booking_page_id, owner_id }: AppointmentFields,
): Promise<Received> {
  const page = booking_page_id === null ? null : await findHosting(tx, workspace_id, booking_page_id)
  return page?.hosts.length && owner_id ? { host_ids: [owner_id] } : {}
}

const isHeld = ({ status }: Pick<Appointment, 'status'>) => status === 'scheduled' || status === 'requested'

/** The hosts of an appointment after a change of its time, page or owner. 409 if they are busy. */
export async function hostsOfChange(
  tx: Tx,
  { workspace_id }: Who,
  before: Appointment,
  values: Partial<AppointmentFields>,
  buffer_minutes = 0,
): Promise<Received> {
  const { booking_page_id: new_page, owner_id, start_at, end_at } = values
  if ([new_page, owner_id, start_at, end_at].every((value) => value === undefined)) return {}
  const stored = await findStored(tx, workspace_id, before.id)
  const page_id = new_page === undefined ? (stored?.booking_page_id ?? null) : new_page
  const page = page_id === null ? null : await findHosting(tx, workspace_id, page_id)
  if (!page?.hosts.length) return before.host_ids.length ? { host_ids: [] } : {}
  const others = before.host_ids.filter((id) => id !== before.owner_id && id !== owner_id)
  // It takes no time.
  if (!isHeld(before))
    return owner_id === undefined ? {} : { host_ids: owner_id ? [owner_id, ...others] : [] }
  const kept = new_page === undefined && owner_id === undefined ? before.host_ids : []
  const times = { start_at: start_at ?? before.start_at, end_at: end_at ?? before.end_at }
  const wish = { owner_id, kept, buffer_minutes, except_id: before.id }
  const host_ids = await chooseHosts(tx, workspace_id, page, times, wish)
  // The owner may have left, and nobody else be free.
  if (!host_ids && owner_id === null) return { host_ids: [] }
  if (!host_ids) throw nobodyFree()
  return { owner_id: host_ids[0] ?? null, host_ids }
}

/** Locks the calendars of an appointment in the trash. 409 if its hosts are busy. */
export async function holdForRestore(tx: Tx, workspace_id: number, id: number): Promise<void> {
  const stored = await findStored(tx, workspace_id, id)
  if (!stored) return
  const { booking_page_id: page_id, owner_id } = stored
  const kept: string[] = JSON.parse(stored.host_ids)
  await lockCalendars(tx, workspace_id, { pages: [page_id], people: [owner_id, ...kept] })
  if (!kept.length || page_id === null || stored.deleted_at === null || !isHeld(stored)) return
  // The hosts stay, also if the page has others now.
  const page: Hosting = { id: page_id, hosts: [], assignment: 'fixed', stale_calendars: 'offer' }
  const free = await chooseHosts(tx, workspace_id, page, stored, { kept })
  if (!free) throw nobodyFree()
}

/** Locks the calendars that a change of an appointment touches: those of both pages, and of both owners. */
export async function lockForChange(
  tx: Tx,
  workspace_id: number,
  before: Appointment,
  { start_at, end_at, booking_page_id, owner_id }: Partial<AppointmentFields>,
): Promise<void> {
  if ([start_at, end_at, booking_page_id, owner_id].every((value) => value === undefined)) return
  const stored = await findStored(tx, workspace_id, before.id)
  const pages = [stored?.booking_page_id ?? null, booking_page_id ?? null]
  await lockCalendars(tx, workspace_id, {
    pages,
    people: [before.owner_id, owner_id ?? null, ...before.host_ids],
  })
}
