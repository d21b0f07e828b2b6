import type { Json, StoredEvent } from '../history.ts'
import type { Deed } from './deeds.ts'

/** A record as the contract says that it must be. */
export type State = {
  exists: boolean
  live: boolean
  stage: string | null
  completed: boolean
  cancelled: boolean
  /** Fields that GET must show. */
  fields: Json
}

export const nothing: State = {
  exists: false,
  live: false,
  stage: null,
  completed: false,
  cancelled: false,
  fields: {},
}

/** An event that must follow: its name, what its data must have, and what it must say to have changed. */
export type Expected = { event: string; data: Json; changed?: string[] }

type Step = { state: State; events: Expected[] }

const kinds: Record<string, string> = {
  contacts: 'contact',
  companies: 'company',
  deals: 'deal',
  activities: 'activity',
  appointments: 'appointment',
}

const closed = (stage: string | null) => stage === 'won' || stage === 'lost'

/** The effect of a deed by the contract; null when it cannot be done to a record in this state. */
export function apply(state: State, deed: Deed): Step | null {
  const kind = kinds[deed.resource] as string
  if (deed.what === 'create') return state.exists ? null : create(kind, deed)
  if (!state.exists) return null
  if (deed.what === 'restore') return restore(kind, state)
  if (!state.live) return null
  if (deed.what === 'delete') return remove(kind, state)
  if (deed.what === 'complete') return complete(state)
  if (deed.what === 'reopen') return { state: { ...state, completed: false }, events: [] }
  if (deed.what === 'cancel') return cancel(state)
  if (deed.what === 'change-stage') return changeStage(state, deed.body)
  return change(kind, state, deed.body)
}

function create(kind: string, { body }: Deed): Step {
  const stage = kind === 'deal' ? (body.stage ?? 'new_lead') : null
  const state = { ...nothing, exists: true, live: true, stage, fields: { ...body } }
  delete state.fields.stage
  const events: Expected[] = [{ event: `${kind}.created`, data: shown(kind, body) }]
  if (closed(stage)) events.push({ event: `deal.${stage}`, data: { stage } })
  return { state, events }
}

// A contact's first event has eight keys; what else was sent is in GET alone.
function shown(kind: string, body: Json): Json {
  const { title: _, ...told } = body
  return kind === 'contact' ? told : body
}

function change(kind: string, state: State, body: Json): Step {
  const { stage, lost_reason, ...fields } = body
  const after = { ...state, fields: { ...state.fields, ...fields } }
  // The catalogue has no event for a change of an activity.
  if (kind === 'activity') return { state: after, events: [] }
  const moves = stage !== undefined && stage !== state.stage
  const updated = { event: `${kind}.updated`, data: fields, changed: Object.keys(fields) }
  if (stage !== undefined) updated.data = body
  if (moves)
    updated.changed = [...updated.changed, 'stage', 'status', 'probability', 'closed_at', 'lost_reason']
  else if (lost_reason !== undefined) updated.changed = [...updated.changed, 'lost_reason']
  const told = moves ? stageEvents(state.stage, body) : []
  if (stage !== undefined) after.stage = stage
  return { state: after, events: [updated, ...told] }
}

function stageEvents(from: string | null, { stage, lost_reason }: Json): Expected[] {
  const events: Expected[] = [
    { event: 'deal.stage_changed', data: { previous_stage: from, new_stage: stage } },
  ]
  if (stage === 'won') events.push({ event: 'deal.won', data: { stage } })
  if (stage === 'lost') events.push({ event: 'deal.lost', data: { stage, lost_reason } })
  return events
}

function changeStage(state: State, body: Json): Step {
  if (body.stage !== state.stage)
    return { state: { ...state, stage: body.stage }, events: stageEvents(state.stage, body) }
  // The same stage again changes nothing, but a lost deal's reason.
  const events = body.lost_reason
    ? [{ event: 'deal.updated', data: { lost_reason: body.lost_reason }, changed: ['lost_reason'] }]
    : []
  return { state, events }
}

function remove(kind: string, state: State): Step {
  const events = kind === 'activity' ? [] : [{ event: `${kind}.deleted`, data: {} }]
  return { state: { ...state, live: false }, events }
}

function restore(kind: string, state: State): Step {
  const events = state.live ? [] : [{ event: `${kind}.updated`, data: {}, changed: ['deleted_at'] }]
  return { state: { ...state, live: true }, events }
}

function complete(state: State): Step {
  const events = state.completed ? [] : [{ event: 'activity.completed', data: {} }]
  return { state: { ...state, completed: true }, events }
}

function cancel(state: State): Step {
  const events = state.cancelled ? [] : [{ event: 'appointment.cancelled', data: {} }]
  return { state: { ...state, cancelled: true }, events }
}

/** Whether an event is the one that must come here. */
export function fits(event: StoredEvent | undefined, expected: Expected): boolean {
  if (event?.event !== expected.event) return false
  if (!hasAll(event.data, expected.data)) return false
  const { changed_fields = [] } = event
  if (!expected.changed) return event.changed_fields === undefined
  // A stage changes what follows from it, unless that was the same before.
  const derived = ['status', 'probability', 'closed_at', 'lost_reason']
  const asked = expected.changed.filter(
    (field) => !derived.includes(field) || expected.data[field] !== undefined,
  )
  return (
    asked.every((field) => changed_fields.includes(field)) &&
    changed_fields.every((field) => expected.changed?.includes(field))
  )
}

/** Whether GET shows the record as it must be. */
export function shows(record: Json | null, state: State): boolean {
  if (!state.exists || !state.live) return record === null
  if (record === null || !hasAll(record, state.fields)) return false
  if (state.stage && record.stage !== state.stage) return false
  if (state.stage && record.status !== (closed(state.stage) ? state.stage : 'open')) return false
  if ('completed_at' in record && (record.completed_at !== null) !== state.completed) return false
  return !('cancel_reason' in record) || record.status === (state.cancelled ? 'cancelled' : 'scheduled')
}

const hasAll = (record: Json, wanted: Json) =>
  Object.entries(wanted).every(([field, value]) => record[field] === value)
