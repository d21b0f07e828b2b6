import type { Schemas } from '../api/client.ts'
import { all_events, all_kinds } from '../kinds.ts'

/** A subscription of a webhook: an event, `deal.*` or `*`. */
export type Subscribed = Schemas['WebhookCreate']['events'][number]

export const groups = all_kinds
  .filter(({ events }) => events.length)
  .map((kind) => ({ ...kind, wildcard: `${kind.noun}.*` as Subscribed }))

const groupOf = (event: string) => `${event.split('.')[0]}.*`

/** Whether a webhook with these events gets an event. */
export const includesEvent = (chosen: readonly string[], event: string): boolean =>
  chosen.includes('*') || chosen.includes(groupOf(event)) || chosen.includes(event)

/** The events that a webhook gets. */
export const eventsOf = (chosen: readonly string[]) =>
  all_events.filter((name) => includesEvent(chosen, name))

/** Adds an event or wildcard, which replaces the events that it includes. */
export function addEvent(chosen: readonly Subscribed[], added: Subscribed): Subscribed[] {
  if (added === '*') return ['*']
  return [...chosen.filter((one) => !includesEvent([added], one)), added]
}

/** Removes an event or all of a group. The rest of a wildcard stays. */
export function removeEvent(chosen: readonly Subscribed[], removed: Subscribed): Subscribed[] {
  return groups.flatMap(({ wildcard, events }): Subscribed[] => {
    const is_whole = chosen.includes('*') || chosen.includes(wildcard)
    const kept = events.filter((name) => includesEvent(chosen, name) && !includesEvent([removed], name))
    return is_whole && kept.length === events.length ? [wildcard] : kept
  })
}
