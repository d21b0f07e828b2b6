import type { Appointment } from './schema.ts'

/** How long a request waits for an answer. */
export const answer_hours = 48

/** When a request expires, in ms since 1970: after 48 hours, or at the appointment's start if that is earlier. */
export const lapsesAt = ({ created_at, start_at }: Pick<Appointment, 'created_at' | 'start_at'>): number =>
  Math.min(Date.parse(created_at) + answer_hours * 3_600_000, Date.parse(start_at))
