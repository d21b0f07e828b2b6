import { kindOf, kinds_of_events } from '../events/kinds.ts'
import { forbidden } from './errors.ts'

/** What a caller may do; null: everything, with what later versions add. */
export type Scopes = readonly string[] | null

// The scope whose routes show a kind. A kind that is missing here is shown to callers with every scope alone.
const read_scopes: Record<string, string> = {
  contacts: 'contacts:read',
  notes: 'contacts:read',
  companies: 'companies:read',
  deals: 'deals:read',
  activities: 'activities:read',
  appointments: 'appointments:read',
  booking_pages: 'booking_pages:read',
  views: 'views:read',
  webhooks: 'webhooks:read',
  deliveries: 'webhooks:read',
  api_keys: 'keys:read',
  workspaces: 'workspace:read',
  members: 'members:read',
  // Who is invited or signed in is for those who manage members.
  users: 'members:write',
  invitations: 'members:write',
  sessions: 'members:write',
}

/** The kinds of records, as the audit log calls them. */
export const kinds_of_records: readonly string[] = Object.keys(read_scopes)

/**
 * Whether a caller with the scopes `own` may give, change or end what has the scopes `others` (contract: keys, limits,
 * safety). A list of all scopes does not cover null.
 */
export function covers(own: Scopes, others: Scopes): boolean {
  if (own === null) return true
  return others?.every((scope) => own.includes(scope)) ?? false
}

/** Whether a caller may read records of a kind, as the audit log calls it. */
export function mayRead(own: Scopes, kind: string): boolean {
  const scope = read_scopes[kind]
  return own === null || (scope !== undefined && own.includes(scope))
}

/** The kinds of the audit log that a caller may read; null: all. */
export const readableKinds = (own: Scopes): readonly string[] | null =>
  own && Object.keys(read_scopes).filter((kind) => mayRead(own, kind))

/** Whether a caller may read the data of an event such as `deal.won`. A ping has none. */
export function mayReadEvent(own: Scopes, event: string): boolean {
  return event === 'ping' || mayRead(own, kindOf(event) ?? '')
}

/** The first parts of the names of the events that a caller may read, such as `deal`; null: all. */
export const readableGroups = (own: Scopes): readonly string[] | null =>
  own && Object.entries(kinds_of_events).flatMap(([group, kind]) => (mayRead(own, kind) ? [group] : []))

/** Throws 403 that names the scopes which a caller lacks to be sent these events. */
export function refuseUnreadable(own: Scopes, events: readonly string[]): void {
  const hidden = events.filter((event) => !mayReadEvent(own, event))
  if (!hidden.length) return
  const lacked = new Set(hidden.map((event) => read_scopes[kindOf(event) ?? ''] ?? 'every scope'))
  throw forbidden(
    `A webhook with ${hidden.join(', ')} needs ${[...lacked].join(', ')}, which you lack. Ask somebody who has it.`,
  )
}
