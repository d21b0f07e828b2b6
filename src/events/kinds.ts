import type { Deletable } from '../db/records.ts'

/** The first part of an event's name, such as `deal`, and the kind of record that the event is about. */
export const kinds_of_events = {
  contact: 'contacts',
  company: 'companies',
  deal: 'deals',
  activity: 'activities',
  appointment: 'appointments',
} as const satisfies Record<string, Deletable>

const kinds: Record<string, Deletable> = kinds_of_events

/** The kind of the record that an event such as `deal.won` is about; none for a ping. */
export const kindOf = (event: string): Deletable | undefined => kinds[event.split('.')[0] ?? '']
