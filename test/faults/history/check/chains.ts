import { isDeepStrictEqual } from 'node:util'
import type { Json, StoredEvent, Violation } from '../history.ts'
import { eventsByRecord } from './deeds.ts'

// These follow other records, or move with every change.
const others = new Set(['contact', 'company', 'deal', 'booking_page', 'updated_at', 'created_at'])
// deal.stage_changed does not name the fields that follow from the stage.
const derived = ['status', 'probability', 'closed_at', 'lost_reason']

/** Each event must go on from where the one before left the record. */
export function checkChains(events: StoredEvent[]): Violation[] {
  return [...eventsByRecord(events)].flatMap(([path, all]) => checkChain(path, all))
}

function checkChain(path: string, events: StoredEvent[]): Violation[] {
  const violations: Violation[] = []
  const broken = (told: string) => violations.push({ rule: 'chain', told: `${path}: ${told}` })
  const known = new Map<string, unknown>()
  let stage: string | null = null
  let live = false
  for (const [at, one] of events.entries()) {
    const { event, data, changed_fields, previous } = one
    const name = event.split('.')[1]
    if (name === 'created') {
      if (at) broken('created twice')
      live = true
      stage = data.stage ?? null
    } else if (!at) broken(`begins with ${event}`)
    if (changed_fields) {
      checkChange(one, known, broken)
      if (changed_fields.includes('deleted_at') === live)
        broken(live ? 'restored while it was live' : `${event} in the trash`)
      live = true
    } else if (!live) broken(`${event} in the trash`)
    if (name === 'deleted') live = false
    if (name === 'stage_changed') {
      if (data.previous_stage !== stage) broken(`the stage was ${stage}, and ${data.previous_stage} is told`)
      if (data.previous_stage === data.new_stage) broken(`from ${data.new_stage} to the same stage`)
      stage = data.new_stage
      known.set('stage', stage)
      for (const field of derived) known.delete(field)
      if ((stage === 'won' || stage === 'lost') && events[at + 1]?.event !== `deal.${stage}`)
        broken(`moved to ${stage} without deal.${stage}`)
    }
    if (name === 'won' || name === 'lost') checkClosing(events[at - 1], name, broken)
    if (changed_fields || name === 'created' || name === 'cancelled')
      for (const [field, value] of Object.entries(data)) known.set(field, value)
    if (previous && !isDeepStrictEqual(Object.keys(previous).sort(), [...(changed_fields ?? [])].sort()))
      broken(`${event} names ${changed_fields} and gives previous values of ${Object.keys(previous)}`)
  }
  return violations
}

function checkChange(
  { event, data, changed_fields = [], previous = {} }: StoredEvent,
  known: Map<string, unknown>,
  broken: (told: string) => void,
) {
  for (const field of changed_fields) {
    if (known.has(field) && !isDeepStrictEqual(previous[field], known.get(field)))
      broken(
        `${event}: ${field} was ${JSON.stringify(known.get(field))}, and ${JSON.stringify(previous[field])} is told`,
      )
  }
  for (const [field, value] of Object.entries<Json>(data)) {
    if (others.has(field) || changed_fields.includes(field) || !known.has(field)) continue
    if (!isDeepStrictEqual(value, known.get(field)))
      broken(
        `${event}: ${field} went from ${JSON.stringify(known.get(field))} to ${JSON.stringify(value)} unnamed`,
      )
  }
}

// A won deal was created as won, or has just moved there.
function checkClosing(before: StoredEvent | undefined, stage: string, broken: (told: string) => void) {
  const moved = before?.event === 'deal.stage_changed' && before.data.new_stage === stage
  const made = before?.event === 'deal.created' && before.data.stage === stage
  if (!moved && !made) broken(`deal.${stage} after ${before?.event}`)
}
