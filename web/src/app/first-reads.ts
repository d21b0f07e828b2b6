import { lastStaleDay } from '../deals/staleness.ts'
import { browser_zone } from './formats.ts'
import type { Session } from './session.ts'
import { endOfDay, wallOf } from './zones.ts'

/**
 * The requests of Home, and of the contacts without a view, which every role may send. The app compares them with its own, so
 * their parameters are as in the code of these pages.
 */
export function firstReads({ user }: Session): Record<string, string[]> {
  const zone = user.time_zone ?? browser_zone
  const now = new Date().toISOString()
  const today = wallOf(now, zone).slice(0, 10)
  const at = (path: string, query: Record<string, string | number>) =>
    `/api/v1/${path}?${new URLSearchParams(query as Record<string, string>)}`
  const mine = { owner_id: 'me,null' }
  const deals = { status: 'open', ...mine, sort: '-value,name' }
  const six_deals = { per_page: 6, cursor: '', progress: 'true' }
  const unread = at('notifications', { unread: 'true', per_page: 1 })
  const members = at('members', { page: 1, per_page: 100 })
  const due = { status: 'open', due_to: endOfDay(today, zone), ...mine, details: 'true' }
  const coming = { status: 'scheduled', ...mine, details: 'true', start_from: now, sort: 'start_at' }
  return {
    '/': [
      at('contacts', { per_page: 1 }),
      at('deals', { per_page: 1 }),
      at('activities', { ...due, sort: 'due_at', per_page: 6 }),
      at('appointments', { ...coming, per_page: 6 }),
      at('deals', { ...deals, next_activity: 'null', ...six_deals }),
      at('deals', { ...deals, stage_since_to: lastStaleDay(Date.now()), ...six_deals }),
      '/api/v1/reports/pipeline',
      at('reports/outcomes', { months: 12, time_zone: zone }),
      at('events', { sort: '-timestamp', per_page: 8 }),
      at('reports/activities', { time_zone: zone, ...mine }),
      at('appointments', { status: 'requested', per_page: 1 }),
      members,
      unread,
    ],
    '/contacts': [
      at('contacts', { page: 1, per_page: 50 }),
      '/api/v1/view-tabs',
      '/api/v1/views',
      at('custom-fields', { resource: 'contacts', page: 1, per_page: 100 }),
      members,
      unread,
    ],
  }
}
