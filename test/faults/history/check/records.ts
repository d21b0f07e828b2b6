import type { History, Json, StoredEvent, Violation } from '../history.ts'
import { type Deed, eventsByRecord, recordOf } from './deeds.ts'
import { apply, fits, nothing, type State, shows } from './model.ts'

/** The operation of each event, as far as it is known. */
export type Origins = Map<string, Deed>

const of_records = new Set<string>(['contacts', 'companies', 'deals', 'activities', 'appointments'])

/**
 * For a record of one client, each request without an answer was done or not. One choice of these outcomes must explain
 * its events, in order, and the answer of GET. For a shared record, each marked change has exactly one event.
 */
export function checkRecords(history: History, deeds: Deed[]): { violations: Violation[]; origins: Origins } {
  const violations: Violation[] = []
  const origins: Origins = new Map()
  const events = eventsByRecord(history.reading.events)
  const shared = new Set(history.shared.map(({ resource, id }) => `/${resource}/${id}`))
  const marks = markedEvents(history.reading.events)
  for (const [path, mine] of deedsByRecord(deeds, marks)) {
    const told = events.get(path) ?? []
    if (shared.has(path)) {
      violations.push(...checkShared(path, mine, told, origins))
      continue
    }
    const record = history.reading.records[path] ?? null
    if (explain(mine, told, record, origins)) continue
    const asked = mine.map(
      ({ what, outcome, status, body }) => `${what} ${outcome} ${status} ${JSON.stringify(body)}`,
    )
    const seen = told.map(
      ({ event, changed_fields, data }) =>
        `${event} ${changed_fields ?? ''} ${data.stage ?? data.new_stage ?? ''}`,
    )
    violations.push({
      rule: 'events',
      told: `${path}: ${asked.join('; ')}\n  told: ${seen.join('; ')}\n  shown: ${JSON.stringify(record)}`,
    })
  }
  for (const [path, told] of events)
    for (const event of told)
      if (
        !origins.has(event.id) &&
        !shared.has(path) &&
        !violations.some(({ told: text }) => text.startsWith(`${path}:`))
      )
        violations.push({ rule: 'phantom', told: `${event.event} of ${path} comes from no request` })
  return { violations, origins }
}

/** The events in which a mark first stands; marks are unique, so they name their deed. */
function markedEvents(events: StoredEvent[]): Map<string, StoredEvent> {
  const found = new Map<string, StoredEvent>()
  for (const event of events)
    for (const [mark] of JSON.stringify(event.data).matchAll(/mark-[\w-]+/g))
      if (!found.has(mark)) found.set(mark, event)
  return found
}

/** The deeds of each record in the order in which they were asked for, those that were refused too. */
function deedsByRecord(deeds: Deed[], marks: Map<string, StoredEvent>): Map<string, Deed[]> {
  const found = new Map<string, Deed[]>()
  for (const deed of deeds) {
    if (!of_records.has(deed.resource) || deed.what === 'be refused') continue
    // Without an answer, only the event has the id of a created record.
    const told = deed.what === 'create' && deed.outcome === 'unknown' ? marks.get(deed.mark ?? '') : undefined
    const id = deed.id ?? deed.answers[0]?.id
    const path = told ? recordOf(told) : id ? `/${deed.resource}/${id}` : null
    if (path) found.set(path, [...(found.get(path) ?? []), deed])
  }
  return found
}

/** Looks for a way through the unknown outcomes by which everything fits; notes then which event came from which deed. */
function explain(deeds: Deed[], events: StoredEvent[], record: Json | null, origins: Origins): boolean {
  const chosen: [string, Deed][] = []
  function from(at: number, place: number, state: State): boolean {
    const deed = deeds[at]
    if (!deed) return place === events.length && shows(record, state)
    if (deed.outcome === 'refused') {
      // Only a missing record may be 404.
      if (deed.status === 404 && state.live && deed.what !== 'create') return false
      return from(at + 1, place, state)
    }
    const step = apply(state, deed)
    if (step?.events.every((expected, index) => fits(events[place + index], expected))) {
      const before = chosen.length
      for (let index = 0; index < step.events.length; index++) chosen.push([events[place + index]!.id, deed])
      if (from(at + 1, place + step.events.length, step.state)) return true
      chosen.length = before
    }
    return deed.outcome === 'unknown' && from(at + 1, place, state)
  }
  if (!from(0, 0, nothing)) return false
  for (const [id, deed] of chosen) origins.set(id, deed)
  return true
}

function checkShared(path: string, deeds: Deed[], events: StoredEvent[], origins: Origins): Violation[] {
  const violations: Violation[] = []
  let moves = 0
  for (const deed of deeds) {
    if (deed.what === 'change-stage' && deed.outcome !== 'refused') moves++
    if (!deed.mark) continue
    const field = Object.entries(deed.body).find(([, value]) => value === deed.mark)?.[0] ?? ''
    // The one that brought it: later events show it unchanged.
    const found = events.filter(({ event, data, changed_fields }) => {
      if (data[field] !== deed.mark) return false
      if (deed.what === 'create') return event.endsWith('.created')
      return (event === 'deal.lost' && field === 'lost_reason') || changed_fields?.includes(field)
    })
    for (const event of found) origins.set(event.id, deed)
    // To lost again is deal.updated, to lost from elsewhere deal.lost; to any other stage nothing has the mark.
    const expected = deed.what !== 'change-stage' || deed.body.lost_reason
    if (deed.outcome === 'done' && expected && found.length !== 1)
      violations.push({
        rule: found.length ? 'twice' : 'lost',
        told: `${path}: ${found.length} events of ${deed.mark}`,
      })
    if (deed.outcome === 'unknown' && found.length > 1)
      violations.push({ rule: 'twice', told: `${path}: ${found.length} events of ${deed.mark}` })
    if (deed.outcome === 'refused' && found.length)
      violations.push({ rule: 'phantom', told: `${path}: ${deed.mark} was refused with ${deed.status}` })
  }
  // An event without a mark is a stage change, or a deal won by it.
  for (const { id, event } of events)
    if (!origins.has(id) && event !== 'deal.stage_changed' && event !== 'deal.won')
      violations.push({ rule: 'phantom', told: `${path}: ${event} ${id} comes from no request` })
  const moved = events.filter(({ event }) => event === 'deal.stage_changed').length
  if (moved > moves)
    violations.push({ rule: 'phantom', told: `${path}: ${moved} changes of the stage of ${moves} asked` })
  return violations
}

/** Marks that are missing in events, and marks of refused requests that are stored anywhere. */
export function checkMarks({ reading, receipts }: History, deeds: Deed[]): Violation[] {
  const everything = JSON.stringify([reading.events, reading.records, reading.notes, reading.webhooks])
  const stored = new Set(everything.match(/mark-[\w-]+/g))
  const told = new Set(JSON.stringify(reading.events).match(/mark-[\w-]+/g))
  const sent = new Set(receipts.flatMap(({ body }) => body.match(/mark-[\w-]+/g) ?? []))
  const violations: Violation[] = []
  for (const { what, resource, mark, outcome, status } of deeds) {
    if (!mark || resource === 'webhooks') continue
    const bare =
      resource === 'notes' || what === 'change-stage' || (what === 'change' && resource === 'activities')
    if (outcome === 'done' && !bare && !told.has(mark))
      violations.push({
        rule: 'lost',
        told: `${what} of ${resource} with ${mark} was acknowledged and has no event`,
      })
    if (what === 'be refused' && outcome === 'done')
      violations.push({ rule: 'answer', told: `${resource} with ${mark} was accepted` })
    if (outcome === 'refused' && (stored.has(mark) || sent.has(mark)))
      violations.push({
        rule: 'phantom',
        told: `${what} of ${resource} with ${mark} was refused with ${status}`,
      })
  }
  return violations
}

/** Each acknowledged note is there once, with its contact. */
export function checkNotes({ reading }: History, deeds: Deed[]): Violation[] {
  const violations: Violation[] = []
  for (const { resource, id, mark, outcome } of deeds) {
    if (resource !== 'notes' || !reading.records[`/contacts/${id}`]) continue
    const found = (reading.notes[Number(id)] ?? []).filter(({ body }) => body === mark).length
    if (outcome === 'done' && found === 0)
      violations.push({ rule: 'record', told: `the note ${mark} is gone` })
    if (found > 1) violations.push({ rule: 'twice', told: `the note ${mark} is there ${found} times` })
  }
  return violations
}

/** One Idempotency-Key makes one record; one mark of a creation stands in one record. */
export function checkOnce(deeds: Deed[], events: StoredEvent[]): Violation[] {
  const violations: Violation[] = []
  const made = new Map<string, number>()
  for (const { event, data } of events)
    if (event.endsWith('.created'))
      for (const [mark] of JSON.stringify(data).matchAll(/mark-[\w-]+/g))
        made.set(mark, (made.get(mark) ?? 0) + 1)
  for (const [mark, count] of made)
    if (count > 1) violations.push({ rule: 'twice', told: `${mark} made ${count} records` })
  for (const { what, mark, answers } of deeds) {
    const ids = new Set(answers.map((data) => data?.id))
    if (what === 'create' && ids.size > 1)
      violations.push({ rule: 'twice', told: `${mark} was answered with the ids ${[...ids]}` })
  }
  return violations
}
