type Side = Record<string, unknown> | null | undefined
/** What an entry of the audit log tells of its record. */
type Entry = { kind: string; record_id: number | string; action: string; before?: Side; after?: Side }
type Told = Entry & { actor: { id: string | null; name: string | null } }

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

/** Where the record is to be seen after this entry; null where there is nothing to see any more. */
function placeOf({ kind, record_id, action, before, after }: Entry): string | null {
  if (action === 'removed' || action === 'erased') return null
  if (kind === 'notes') {
    const contact_id = after?.contact_id ?? before?.contact_id
    return contact_id ? `/contacts/${contact_id}?tab=notes` : null
  }
  if (action === 'deleted' && paths[kind] && !['webhooks', 'deliveries'].includes(kind))
    return `/trash?kind=${kind}`
  if (action === 'deleted') return pages[kind] ?? null
  return paths[kind] ? `${paths[kind]}/${record_id}` : (pages[kind] ?? null)
}

const keyOf = ({ kind, record_id }: Entry) => `${kind} ${record_id}`

/** Where the records of entries, the newest first, are to be seen: what has become of one since counts, as far as they tell. */
export function placesOf(entries: readonly Entry[]): (entry: Entry) => string | null {
  const last = new Map(entries.toReversed().map((entry) => [keyOf(entry), entry.action]))
  return (entry) => placeOf({ ...entry, action: last.get(keyOf(entry)) ?? entry.action })
}

/** What a person calls the record, as far as the entry tells; null when it does not. */
function toldName({ before, after }: Entry): string | null {
  const sides = { ...before, ...after }
  const { first_name, last_name, name, subject, title, email } = sides
  if (first_name && last_name) return `${first_name} ${last_name}`
  for (const text of [name, subject, title, email]) if (typeof text === 'string' && text) return text
  return null
}

/** The names of the records that entries are about: the latest that one of them tells, else the id, shortened where it is long. */
export function namesOf(entries: readonly Told[]): (entry: Entry) => string {
  const names = new Map<string, string>()
  for (const { actor } of entries)
    if (actor.id && actor.name)
      for (const kind of ['users', 'members', 'api_keys']) names.set(`${kind} ${actor.id}`, actor.name)
  for (const entry of entries) {
    const name = names.has(keyOf(entry)) ? null : toldName(entry)
    if (name) names.set(keyOf(entry), name)
  }
  return (entry) => {
    const id = String(entry.record_id)
    return toldName(entry) ?? names.get(keyOf(entry)) ?? (id.length > 16 ? `${id.slice(0, 12)}…` : id)
  }
}
