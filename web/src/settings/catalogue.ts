import type { paths } from '../api/schema'

type Body = paths['/api/v1/webhooks']['post']['requestBody']['content']['application/json']
export type EventName = Body['events'][number]

/** The events that a webhook may ask for, by what they are about. */
export const event_groups = {
  contact: ['contact.created', 'contact.updated', 'contact.deleted'],
  company: ['company.created', 'company.updated', 'company.deleted'],
  deal: ['deal.created', 'deal.updated', 'deal.stage_changed', 'deal.won', 'deal.lost', 'deal.deleted'],
  activity: ['activity.created', 'activity.completed'],
  appointment: ['appointment.created', 'appointment.updated', 'appointment.cancelled'],
} as const satisfies Record<string, readonly EventName[]>
export type EventGroup = keyof typeof event_groups

// An event that the API has and the list has not is an error here.
type Listed = (typeof event_groups)[EventGroup][number]
export const all_events: readonly ([EventName] extends [Listed] ? EventName : never)[] =
  Object.values(event_groups).flat()

const pages: Record<string, string> = {
  contact: '/contacts',
  company: '/companies',
  deal: '/deals',
  activity: '/activities',
  appointment: '/calendar',
}

/** The page of the record that an event is about, by the bytes that were sent; null where there is none. */
export function pageOfEvent(event: string, body: string | undefined): string | null {
  const [noun = '', verb] = event.split('.')
  const page = pages[noun]
  if (!page || !body || verb === 'deleted') return null
  try {
    const id = (JSON.parse(body) as { data?: { id?: unknown } }).data?.id
    return typeof id === 'number' ? `${page}/${id}` : null
  } catch {
    return null
  }
}
