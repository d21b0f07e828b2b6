import { isNoteKind, recordOfNote } from '../api/note-kinds.ts'
import type { KindPath, Target } from '../app/addresses.ts'

type Side = Record<string, unknown> | null | undefined
/** The fields of an audit entry that identify its record. */
type Entry = { kind: string; record_id: number | string; action: string; before?: Side; after?: Side }
type NamedEntry = Entry & { title?: string | null; actor: { id: string | null; name: string | null } }

type Paths = Partial<Record<string, { path: KindPath }>>

// Records that have a page but do not go to the trash.
const others: Partial<Record<string, '/settings/webhooks' | '/settings/deliveries'>> = {
  webhooks: '/settings/webhooks',
  deliveries: '/settings/deliveries',
}
// The page that lists records without a page of their own.
const pages: Partial<Record<string, Target>> = {
  api_keys: { to: '/settings/keys' },
  members: { to: '/settings/members' },
  users: { to: '/settings/members' },
  invitations: { to: '/settings/members' },
  workspaces: { to: '/settings/workspace' },
  custom_fields: { to: '/settings/fields' },
}

/** The page of the record after this entry; null where there is none. */
function linkOf(entry: Entry, kinds: Paths): Target | null {
  const { kind, record_id, action, before, after } = entry
  if (action === 'removed' || action === 'erased') return null
  if (isNoteKind(kind)) {
    const of = recordOfNote(kind, { ...before, ...after })
    return of && { to: `/${of.kind}/${of.id}`, search: { tab: 'notes' } }
  }
  const path = kinds[kind]?.path
  if (path)
    return action === 'deleted' ? { to: '/trash', search: { kind } } : { to: `${path}/${Number(record_id)}` }
  const other = action !== 'deleted' && others[kind]
  return other ? { to: `${other}/${record_id}` } : (pages[kind] ?? null)
}

const keyOf = ({ kind, record_id }: Entry) => `${kind} ${record_id}`

/** Links to the records of entries, newest entry first. The latest entry of a record decides. */
export function linksOf(entries: readonly Entry[], kinds: Paths): (entry: Entry) => Target | null {
  const last = new Map(entries.toReversed().map((entry) => [keyOf(entry), entry.action]))
  return (entry) => linkOf({ ...entry, action: last.get(keyOf(entry)) ?? entry.action }, kinds)
}

/** The name of the record, if the entry has it. */
function nameIn({ kind, before, after }: Entry): string | null {
  const sides = { ...before, ...after }
  const { first_name, last_name, name, subject, title, email, label, key } = sides
  if (first_name && last_name) return `${first_name} ${last_name}`
  // The title of a contact is a job. A change of it or of the e-mail has no name.
  if (kind === 'contacts') return null
  for (const text of [name, subject, title, email, label, key])
    if (typeof text === 'string' && text) return text
  return null
}

/**
 * The names of the records of entries: the one in the entry, else the present or the latest known one, else the id, shortened if long. The
 * title of a note is the beginning of its text, which names nothing in a sentence.
 */
export function namesOf(entries: readonly NamedEntry[]): (entry: Entry) => string {
  const names = new Map<string, string>()
  for (const { actor } of entries)
    if (actor.id && actor.name)
      for (const kind of ['users', 'members', 'api_keys']) names.set(`${kind} ${actor.id}`, actor.name)
  for (const entry of entries) {
    const name = names.has(keyOf(entry))
      ? null
      : ((isNoteKind(entry.kind) ? null : entry.title) ?? nameIn(entry))
    if (name) names.set(keyOf(entry), name)
  }
  return (entry) => {
    const id = String(entry.record_id)
    return nameIn(entry) ?? names.get(keyOf(entry)) ?? (id.length > 16 ? `${id.slice(0, 12)}…` : id)
  }
}
