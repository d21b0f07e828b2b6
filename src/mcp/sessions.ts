import type { Clock } from '../clock.ts'
import { newId } from '../db/ids.ts'

/** The ids of groups of changes, as newId makes them. */
export const group_pattern = /^grp_[0-9a-f]{32}$/

// Changes after a longer pause belong to another session.
const idle_ms = 30 * 60 * 1000
const max_sessions = 10_000

/**
 * The group of changes of a caller that names none: one for each session, which ends after half an hour without a change.
 * Each process has its own.
 */
export function createSessions(clock: Clock) {
  const sessions = new Map<string, { group: string; until: number }>()
  return {
    of(caller: string): string {
      const now = clock.elapsed()
      const known = sessions.get(caller)
      const group = known && known.until > now ? known.group : newId('grp')
      sessions.delete(caller)
      sessions.set(caller, { group, until: now + idle_ms })
      // The first one is the longest unused.
      if (sessions.size > max_sessions) sessions.delete(sessions.keys().next().value as string)
      return group
    },
  }
}
