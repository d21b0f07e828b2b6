import type { Json, Operation, StoredEvent } from '../history.ts'

/** The deed of a client, however often it asked: requests with one Idempotency-Key and body are one deed. */
export type Deed = {
  what: string
  resource: Operation['resource']
  id: number | string | null
  body: Json
  mark: string | null
  /** `unknown`: it may have been done or not, consistently. */
  outcome: 'done' | 'refused' | 'unknown'
  status: number | null
  sent_ms: number
  /** The time when it had certainly ended. Infinite without an answer. */
  answered_ms: number
  /** The answers that said that it was done. */
  answers: Json[]
}

export function deedsOf(operations: Operation[]): Deed[] {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations) {
    const { idempotency_key, number, body } = operation
    const name = idempotency_key ? `${idempotency_key} ${JSON.stringify(body)}` : String(number)
    groups.set(name, [...(groups.get(name) ?? []), operation])
  }
  return [...groups.values()].map(toDeed)
}

function toDeed(group: Operation[]): Deed {
  const first = group[0] as Operation
  const done = group.filter(({ status }) => status !== null && status < 300)
  const refused = group.filter(({ status }) => status !== null && status >= 400 && status < 500)
  // 409: a request before it is in flight still, so that nothing is known.
  const last = refused.at(-1)
  const certain = done[0] ?? (last && (last.status !== 409 || group.length === 1) ? last : null)
  const outcome = done.length ? 'done' : certain ? 'refused' : 'unknown'
  const { what, resource, id, body, mark, sent_ms } = first
  return {
    what,
    resource,
    id,
    body,
    mark,
    outcome,
    sent_ms,
    status: certain?.status ?? null,
    answered_ms: certain?.answered_ms ?? Number.POSITIVE_INFINITY,
    answers: done.map(({ data }) => data),
  }
}

const plural: Record<string, string> = {
  contact: 'contacts',
  company: 'companies',
  deal: 'deals',
  activity: 'activities',
  appointment: 'appointments',
}

/** The path of the record of an event. */
export function recordOf({ event, data }: StoredEvent): string {
  const [kind = ''] = event.split('.')
  return `/${plural[kind]}/${data.id}`
}

/** The events of each record, in the order of the feed. */
export function eventsByRecord(events: StoredEvent[]): Map<string, StoredEvent[]> {
  const found = new Map<string, StoredEvent[]>()
  for (const event of events) {
    const path = recordOf(event)
    const known = found.get(path)
    if (known) known.push(event)
    else found.set(path, [event])
  }
  return found
}
