import { setTimeout as pause } from 'node:timers/promises'
import type { Json, Operation, Resource } from './history.ts'
import { resources } from './history.ts'
import { type Chance, createChance } from './random.ts'
import { isDone, isUnknown, type Recorder, type Shared } from './recorder.ts'

const stages = [
  'new_lead',
  'qualification',
  'demo',
  'proposal',
  'negotiation',
  'verbal_commitment',
  'won',
  'lost',
]

/** The field that a creation marks, and the one that a change marks. */
export const marked = {
  contacts: { create: 'last_name', change: 'title' },
  companies: { create: 'name', change: 'industry' },
  deals: { create: 'name', change: 'source' },
  activities: { create: 'subject', change: 'outcome' },
  appointments: { create: 'title', change: 'location' },
} as const

// Required fields of a new record, without its mark.
function required(resource: Resource, chance: Chance): Json {
  if (resource === 'contacts') return { first_name: 'Ana', email: `${chance.text(8)}@acme.example` }
  if (resource === 'deals') return chance.below(3) ? {} : withReason(chance, {})
  if (resource === 'appointments')
    return { start_at: '2030-01-07T09:00:00.000Z', end_at: '2030-01-07T09:30:00.000Z' }
  return {}
}

// Created in lost, a deal has no reason.
const withReason = (chance: Chance, more: Json) => ({ stage: chance.oneOf(stages), ...more })

type Own = { resource: Resource; id: number; live: boolean }

type Setting = {
  number: number
  seed: number
  recorder: Recorder
  shared: Shared
  /** No new work from now on; what has been begun is still asked for until it is answered. */
  stop: () => boolean
  pause_ms: number
}

/** A client that runs random operations, one after the other, on its own records and sometimes on shared ones. */
export async function runClient({ number, seed, recorder, shared, stop, pause_ms }: Setting): Promise<void> {
  const chance = createChance(seed * 1000 + number)
  const own: Own[] = []
  let marks = 0
  const newMark = () => `mark-${seed}-${number}-${++marks}-${chance.text(6)}`
  const send = (request: Omit<Parameters<Recorder['send']>[0], 'client'>) =>
    recorder.send({ client: number, ...request })
  const pick = (fits: (one: Own) => boolean) => {
    const found = own.filter(fits)
    return found.length ? chance.oneOf(found) : null
  }

  async function create() {
    const resource = chance.oneOf(resources)
    const mark = newMark()
    const body = { ...required(resource, chance), [marked[resource].create]: mark }
    const request = { what: 'create', resource, method: 'POST', path: `/${resource}`, body, mark }
    // Without a key, do not repeat the request: the record exists once or not at all.
    const operation = chance.below(5)
      ? await untilAnswered(() => send({ ...request, idempotency_key: mark }))
      : await send(request)
    if (isDone(operation)) own.push({ resource, id: operation.data.id, live: true })
  }

  async function change() {
    const one = pick(({ live }) => live)
    if (!one) return
    const mark = newMark()
    const body: Json = { [marked[one.resource].change]: mark }
    if (one.resource === 'deals' && !chance.below(3)) Object.assign(body, stageFields(mark))
    await send({ what: 'change', ...at(one), method: 'PUT', path: `/${one.resource}/${one.id}`, body, mark })
  }

  function stageFields(mark: string) {
    const stage = chance.oneOf(stages)
    return stage === 'lost' ? { stage, lost_reason: mark } : { stage }
  }

  async function changeStage(one: { resource: Resource; id: number } | null) {
    if (!one) return
    const mark = newMark()
    const body = stageFields(mark)
    await send({
      what: 'change-stage',
      ...at(one),
      method: 'POST',
      path: `/deals/${one.id}/change-stage`,
      body,
      mark,
    })
  }

  async function removeOrRestore() {
    const one = pick(({ resource }) => resource !== 'activities' && resource !== 'appointments')
    if (!one) return
    const [what, method, path] = one.live
      ? (['delete', 'DELETE', `/${one.resource}/${one.id}`] as const)
      : (['restore', 'POST', `/${one.resource}/${one.id}/restore`] as const)
    const operation = await send({ what, ...at(one), method, path })
    // The outcome is unknown. The next request shows it, and all later answers must agree.
    if (isDone(operation) || operation.status === 404) one.live = what === 'restore'
    else if (isUnknown(operation) && chance.below(2)) one.live = what === 'restore'
  }

  async function act(resource: Resource, whats: readonly string[]) {
    const one = pick((one) => one.resource === resource)
    if (!one) return
    const what = chance.oneOf(whats)
    await send({ what, ...at(one), method: 'POST', path: `/${resource}/${one.id}/${what}` })
  }

  async function note() {
    const one = pick(({ resource, live }) => resource === 'contacts' && live)
    if (!one) return
    const mark = newMark()
    const body = { body: mark }
    await send({
      what: 'create',
      resource: 'notes',
      method: 'POST',
      path: `/contacts/${one.id}/notes`,
      body,
      mark,
      id: one.id,
    })
  }

  async function changeShared() {
    const one = chance.oneOf(shared)
    if (one.resource === 'deals' && chance.below(2)) return changeStage(one)
    const mark = newMark()
    const body = { [marked[one.resource].change]: mark }
    await send({ what: 'change', ...at(one), method: 'PUT', path: `/${one.resource}/${one.id}`, body, mark })
  }

  // Requests that the schema, a rule, a reference or a used key refuses, some after a part was written.
  async function beRefused() {
    const mark = newMark()
    const made = recorder.operations.find(({ idempotency_key, status }) => idempotency_key && status === 201)
    const post = { what: 'be refused', resource: 'deals', method: 'POST', path: '/deals', mark } as const
    const deal = pick(({ resource, live }) => resource === 'deals' && live)
    await send(
      chance.oneOf([
        { ...post, body: { name: mark, contact_id: 999_999_999 } },
        { ...post, body: { name: mark, probability: 101 } },
        ...(deal
          ? [
              {
                ...post,
                method: 'PUT',
                path: `/deals/${deal.id}`,
                body: { name: mark, company_id: 999_999_999 },
              },
            ]
          : []),
        ...(made
          ? [
              {
                ...post,
                resource: made.resource,
                path: `/${made.resource}`,
                body: { name: mark },
                idempotency_key: String(made.idempotency_key),
              },
            ]
          : []),
      ]),
    )
  }

  async function resend() {
    const status = chance.oneOf(['succeeded', 'failed'])
    const found = await send({
      what: 'look',
      resource: 'deliveries',
      method: 'GET',
      path: `/deliveries?status=${status}&per_page=20`,
    })
    if (!isDone(found) || !found.data.length) return
    const { id } = chance.oneOf<Json>(found.data)
    await send({
      what: 'resend',
      resource: 'deliveries',
      method: 'POST',
      path: `/deliveries/${id}/resend`,
      id,
    })
  }

  async function untilAnswered(ask: () => Promise<Operation>): Promise<Operation> {
    for (;;) {
      const operation = await ask()
      // 409: the first request is in flight still, although its process may be gone.
      if (!isUnknown(operation) && operation.status !== 409) return operation
      await pause(50)
    }
  }

  const deeds = {
    create,
    change,
    stage: () => changeStage(pick(({ resource, live }) => resource === 'deals' && live)),
    remove: removeOrRestore,
    complete: () => act('activities', ['complete', 'complete', 'reopen']),
    cancel: () => act('appointments', ['cancel']),
    note,
    shared: changeShared,
    refused: beRefused,
    resend,
  }
  const weights = {
    create: 30,
    change: 20,
    stage: 14,
    remove: 12,
    complete: 7,
    cancel: 3,
    note: 5,
    shared: 10,
    refused: 5,
    resend: 2,
  }
  while (!stop() && !recorder.isFull()) {
    await deeds[chance.weighted(weights)]()
    await pause(chance.below(2 * pause_ms))
  }
}

const at = ({ resource, id }: { resource: Resource; id: number }) => ({ resource, id })
