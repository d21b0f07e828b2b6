import { endOfDay, todayIn } from '../app/zones.ts'
import { mine } from './mine.ts'

// The requests of Home, each with its path and its query. queries.ts sends them. first-reads.ts names them before the first visit.

const at_once = 6
export const one_row = { per_page: 1 } as const

/** Activities that are overdue or due today, a day of the zone. */
export const tasks = (today: string, zone: string) =>
  [
    '/api/v1/activities',
    {
      status: 'open',
      due_to: endOfDay(today, zone),
      owner_id: mine,
      details: 'true',
      sort: 'due_at',
      per_page: at_once,
    },
  ] as const

export const taskCounts = (time_zone: string) =>
  ['/api/v1/reports/activities', { time_zone, owner_id: mine }] as const

/** Appointments that run now or come next. */
export const nextAppointments = () =>
  [
    '/api/v1/appointments',
    {
      status: 'scheduled',
      owner_id: mine,
      details: 'true',
      end_from: new Date().toISOString(),
      sort: 'start_at',
      per_page: at_once,
    },
  ] as const

export const requested = ['/api/v1/appointments', { status: 'requested', ...one_row }] as const

export const open_of_mine = { status: 'open', owner_id: mine, sort: '-value,name' } as const
export const without_step = { next_activity: 'null' } as const
export const standing_still = { stale: 'true' } as const

/** The open deals that a filter selects. A cursor spares the count, which would test every open deal. */
export const dealsToMove = <Filter extends object>(filter: Filter) =>
  [
    '/api/v1/deals',
    { ...open_of_mine, ...filter, per_page: at_once, cursor: 'start', progress: 'true' },
  ] as const

export const pipeline = ['/api/v1/reports/pipeline'] as const

/** Deals that were won or lost in the last twelve months. */
export const outcomes = (time_zone: string) =>
  ['/api/v1/reports/outcomes', { months: 12, time_zone }] as const

export const latestEvents = ['/api/v1/events', { sort: '-timestamp', per_page: 8 }] as const

/** All of them, for a role that may send each. */
export const allOfHome = (zone: string) => [
  ['/api/v1/contacts', one_row] as const,
  ['/api/v1/deals', one_row] as const,
  tasks(todayIn(zone), zone),
  nextAppointments(),
  requested,
  dealsToMove(without_step),
  dealsToMove(standing_still),
  taskCounts(zone),
  pipeline,
  outcomes(zone),
  latestEvents,
]
