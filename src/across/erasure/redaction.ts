import { referrersOf } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'

/** The table of the records that are persons. */
export const persons_table = 'contacts'

/** The resources that refer to a contact: their records and events may hold a part of its data. */
export const linkedResources = (resources: readonly Resource[]): Resource[] => [
  ...new Set(referrersOf(resources, persons_table).map(({ resource }) => resource)),
]

/** The fields that show a part of the contact beside a reference. */
export const embeddingsOf = ({ columns }: Resource): string[] =>
  Object.keys(columns).filter((name) => {
    const { embeds } = columns[name] ?? {}
    return embeds && columns[embeds.by]?.refers_to === persons_table
  })

/** The fields that a visitor writes when they book. */
export const visitorFields = ({ columns }: Resource): string[] =>
  Object.keys(columns).filter((name) => columns[name]?.personal === 'visitor')

type Fields = Record<string, unknown>

/** The value of a field without what a visitor wrote. */
export const withoutVisitor = ({ columns }: Resource, name: string): unknown => columns[name]?.default ?? null

/** A record that refers to the erased contact or did before, and whether a visitor booked it. */
export type LinkedRecord = { resource: Resource; booked: boolean }

/** Fields of a linked record, as JSON keeps them: without the embedded contact, and without what a visitor wrote. */
export function redactedFields(
  fields: Fields,
  contact_id: number,
  { resource, booked }: LinkedRecord,
): Fields {
  const redacted = { ...fields }
  for (const name of embeddingsOf(resource)) {
    const embedded = fields[name] as { id?: unknown } | null | undefined
    if (embedded?.id === contact_id) redacted[name] = null
  }
  for (const name of booked ? visitorFields(resource) : [])
    if (name in fields) redacted[name] = withoutVisitor(resource, name)
  return redacted
}

/** The payload of an event of the erased record: its id and its origin stay, and every other value is null. Idempotent. */
export function erasedPayload(payload: string, now: string): string {
  const content = JSON.parse(payload) as Fields & { data: Fields }
  const { id, event, timestamp, sequence, data, actor, source, api_version, erased_at = now } = content
  const nothing = Object.fromEntries(Object.keys(data).map((name) => [name, null]))
  const origin = { actor, source, api_version }
  return JSON.stringify({
    id,
    event,
    timestamp,
    sequence,
    data: { ...nothing, id: data.id },
    ...origin,
    erased_at,
  })
}

/** The payload of an event of a linked record; the same text when it holds nothing of the contact. */
export function redactedPayload(
  payload: string,
  now: string,
  contact_id: number,
  record: LinkedRecord,
): string {
  const content = JSON.parse(payload) as Fields & { data: Fields; previous?: Fields }
  content.data = redactedFields(content.data, contact_id, record)
  if (content.previous) content.previous = redactedFields(content.previous, contact_id, record)
  const redacted = JSON.stringify(content)
  return redacted === payload ? payload : JSON.stringify({ ...content, erased_at: now })
}
