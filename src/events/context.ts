import { type Clock, isoTime } from '../clock.ts'

/** The author of a change: a key, a person, a visitor of a booking page, the command line or the service. */
export type Actor = {
  kind: 'key' | 'person' | 'visitor' | 'command_line' | 'service'
  /** The id of a key or a person; null for others. */
  id: string | null
  /** The name of a key or a person at that time, where it is known. */
  name?: string
}

/** The actors of changes without a request: the command line, and the service. */
export const command_line: Actor = { kind: 'command_line', id: null }
export const service: Actor = { kind: 'service', id: null }

/** The workspace, the actor and the time of a change. All writes of a request share one context. */
export type Context = {
  workspace_id: number
  actor: Actor
  /** The scopes of the caller; null or absent: all of them. */
  scopes?: readonly string[] | null
  /** The id of the request; null without one. */
  request_id: string | null
  /** The way of the change, for its events. By default it follows from the actor. */
  source?: 'import' | 'merge' | 'backfill'
  /** The group of its entries in the audit log; null or absent without one. */
  change_group?: string | null
  /** The other records of a merge, which its events name beside their data. */
  merge?: { merged_from_ids: readonly number[] } | { merged_into_id: number }
  /** The trace context of the request, as a W3C traceparent. */
  traceparent?: string | null
  /** The wall clock as ISO 8601 text, UTC with milliseconds. */
  now: string
  /** The same time in Unix milliseconds. */
  now_ms: number
  /** Service time in milliseconds, for due times and expiry. */
  elapsed(): number
}

/**
 * A context that reads the clock at its first use, which is after the record is locked. So the later of two changes of a
 * record also has the later time.
 */
export function contextOf(
  clock: Clock,
  who: Pick<
    Context,
    'workspace_id' | 'actor' | 'scopes' | 'request_id' | 'traceparent' | 'source' | 'change_group'
  >,
): Context {
  let now_ms: number | undefined
  let now: string | undefined
  let elapsed_ms: number | undefined
  const readOnce = () => {
    now_ms ??= clock.now()
    return now_ms
  }
  return {
    ...who,
    get now() {
      now ??= isoTime(readOnce())
      return now
    },
    get now_ms() {
      return readOnce()
    },
    elapsed() {
      elapsed_ms ??= clock.elapsed()
      return elapsed_ms
    },
  }
}
