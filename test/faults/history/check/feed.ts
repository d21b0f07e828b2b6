import type { History, Violation } from '../history.ts'
import type { Origins } from './records.ts'

/** The feed is in the order of the commits, and a follower received each event once. */
export function checkFeed({ reading, followed }: History, origins: Origins): Violation[] {
  const violations: Violation[] = []
  const ids = reading.events.map(({ id }) => id)
  if (new Set(ids).size !== ids.length)
    violations.push({ rule: 'twice', told: 'an event is twice in the feed' })
  const at = ids.findIndex((id, index) => followed[index] !== id)
  if (at >= 0 || followed.length !== ids.length)
    violations.push({
      rule: 'feed',
      told: `the follower was told ${followed.length} of ${ids.length} events; at ${at}: ${followed[at]} in place of ${ids[at]}`,
    })
  // An event whose request was answered before another request began must be before the other one.
  let latest_sent_ms = 0
  for (const { id, event } of reading.events) {
    const deed = origins.get(id)
    if (!deed) continue
    if (deed.answered_ms < latest_sent_ms)
      violations.push({
        rule: 'order',
        told: `${event} ${id} was answered before an earlier event was asked for`,
      })
    latest_sent_ms = Math.max(latest_sent_ms, deed.sent_ms)
  }
  return violations
}

/** Every total is the number of its records. */
export function checkTotals({ reading }: History): Violation[] {
  const violations: Violation[] = []
  for (const { query, total, counted } of reading.totals)
    if (total !== counted)
      violations.push({ rule: 'total', told: `${query} says ${total} and has ${counted}` })
  for (const [resource, ids] of Object.entries(reading.listed)) {
    const prefix = `/${resource}/`
    const shown = Object.entries(reading.records).filter(
      ([path, record]) => path.startsWith(prefix) && record,
    )
    const listed = new Set(ids.map((id) => `${prefix}${id}`))
    for (const [path] of shown)
      if (!listed.has(path)) violations.push({ rule: 'record', told: `${path} is in no list` })
    for (const path of listed)
      if (!reading.records[path]) violations.push({ rule: 'record', told: `${path} is listed and 404` })
  }
  return violations
}

/** Faults are announced, and nothing hangs. */
export function checkAnswers({ operations }: History): Violation[] {
  return operations
    .filter(({ status, retry_after }) => status !== null && status >= 500 && !(status === 503 && retry_after))
    .map(({ what, resource, id, status }) => ({
      rule: 'answer',
      told: `${what} of ${resource} ${id ?? ''} is ${status}`,
    }))
}
