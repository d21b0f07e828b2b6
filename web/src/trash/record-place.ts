import type { Schemas } from '../api/client.ts'

export type AuditEntry = Schemas['AuditEntry']
type Side = Record<string, unknown> | null

const paths: Record<string, string> = {
  contacts: '/contacts',
  companies: '/companies',
  deals: '/deals',
  activities: '/activities',
  appointments: '/calendar',
  booking_pages: '/booking-pages',
  webhooks: '/settings/webhooks',
  deliveries: '/settings/deliveries',
}
// What has no page of its own stands on one with the others.
const pages: Record<string, string> = {
  api_keys: '/settings/keys',
  members: '/settings/members',
  users: '/settings/members',
  invitations: '/settings/members',
  workspaces: '/settings/workspace',
}

/** Where the record of an entry is to be seen; null where there is nothing to see any more. */
export function placeOf({ kind, record_id, action, before, after }: AuditEntry): string | null {
  if (action === 'removed' || action === 'erased') return null
  if (kind === 'notes') {
    const contact_id = (after as Side)?.contact_id ?? (before as Side)?.contact_id
    return contact_id ? `/contacts/${contact_id}?tab=notes` : null
  }
  if (action === 'deleted' && paths[kind] && !['webhooks', 'deliveries'].includes(kind))
    return `/trash?kind=${kind}`
  if (action === 'deleted') return pages[kind] ?? null
  return paths[kind] ? `${paths[kind]}/${record_id}` : (pages[kind] ?? null)
}

/** What a person calls the record, as far as the entry tells; else its id, shortened where it is long. */
export function recordName({ record_id, before, after }: AuditEntry): string {
  const sides = { ...(before as Side), ...(after as Side) } as Record<string, unknown>
  const { first_name, last_name, name, subject, title, email } = sides
  if (first_name && last_name) return `${first_name} ${last_name}`
  for (const text of [name, subject, title, email]) if (typeof text === 'string' && text) return text
  const id = String(record_id)
  return id.length > 16 ? `${id.slice(0, 12)}…` : id
}
