import { type Clock, isoTime } from '../clock.ts'

/** Who makes a change: a key or a person of the workspace, a visitor of a booking page, the command line, the service itself. */
export type Actor = {
  kind: 'key' | 'person' | 'visitor' | 'command_line' | 'service'
  /** Of a key or a person. */
  id: string | null
}

/** Who makes a change where no request does: somebody at the command line, or a start of the service. */
export const command_line: Actor = { kind: 'command_line', id: null }
export const service: Actor = { kind: 'service', id: null }

/** For whom and when a change is made; every write of a request shares one. */
export type Context = {
  workspace_id: number
  actor: Actor
  /** Of the request, where there is one. */
  request_id: string | null
  /** ISO 8601 UTC with milliseconds. */
  now: string
  now_ms: number
  /** Service time in milliseconds, for what is due or over later. */
  elapsed(): number
}

/**
 * A context whose time is taken when it is first asked for, which is after the record is locked: of two changes of one
 * record, the later one has the later time.
 */
export function contextOf(
  clock: Clock,
  who: Pick<Context, 'workspace_id' | 'actor' | 'request_id'>,
): Context {
  let taken_ms: number | undefined
  let elapsed_ms: number | undefined
  const take = () => {
    taken_ms ??= clock.now()
    return taken_ms
  }
  return {
    ...who,
    get now() {
      return isoTime(take())
    },
    get now_ms() {
      return take()
    },
    elapsed() {
      elapsed_ms ??= clock.elapsed()
      return elapsed_ms
    },
  }
}
