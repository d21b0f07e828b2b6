import assert from 'node:assert/strict'
import { beforeEach } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { newWorkspace } from './database.ts'
import { dataOf } from './envelope.ts'
import type { client, Rapport } from './harness.ts'
import type { Receiver } from './receiver.ts'

export type Call = ReturnType<typeof client>

export type Webhook = {
  id: string
  name: string | null
  url: string
  events: string[]
  status: string
  status_reason: string | null
  rotation_ends_at: string | null
  headers: Record<string, string>
  conditions: object[]
  format: string
  ordered: boolean
  created_at: string
  secret: string
}
export type Delivery = {
  id: string
  webhook_id: string
  event_id: string
  event: string
  kind: string | null
  record_id: number | null
  status: string
  attempt_count: number
  next_attempt_at: string | null
  created_at: string
  finished_at: string | null
}
export type Attempt = {
  number: number
  started_at: string
  duration_ms: number
  request: { url: string; headers: Record<string, string>; body: string }
  response: { status: number; headers: Record<string, string>; body: string } | null
  error: { code: string; message: string } | null
}

const path = '/api/v1/webhooks'

/**
 * Calls as the workspace of a test: each test has its own, so that only its own webhooks get its events. The receiver
 * forgets its requests before each test, and answers with 200 or as given.
 */
export function useWorkspaces(
  rapport: Rapport,
  receiver: Receiver,
  answering: Receiver['answering'] = () => ({}),
): Call {
  let call: Call
  beforeEach(async () => {
    call = await newWorkspace(rapport)
    receiver.received.length = 0
    receiver.answering = answering
  })
  return (...words) => call(...words)
}

/** Registers a webhook, by default for company.created. */
export async function register(call: Call, fields: object): Promise<Webhook> {
  return dataOf(await call('POST', path, { events: ['company.created'], ...fields }), 201)
}

export async function webhook(call: Call, id: string): Promise<Webhook> {
  return dataOf(await call('GET', `${path}/${id}`), 200)
}

/** Does something with a webhook: pause, resume, test and so on. */
export async function act(call: Call, id: string, name: string, body?: object) {
  return dataOf(await call('POST', `${path}/${id}/${name}`, body), 200)
}

/** Creates a company: the shortest way to an event. */
export async function company(call: Call, name = 'Acme'): Promise<{ id: number; name: string }> {
  return dataOf(await unlessBusy(() => call('POST', '/api/v1/companies', { name })), 201)
}

/** The delivery log, newest first. */
export async function log(call: Call, query = 'per_page=100'): Promise<Delivery[]> {
  return dataOf(await call('GET', `/api/v1/deliveries?${query}`), 200)
}

/** How many deliveries the log says that there are. */
export async function total(call: Call, query = ''): Promise<number> {
  return (await call('GET', `/api/v1/deliveries?per_page=1&${query}`)).body.meta.total
}

export async function delivery(call: Call, id: string): Promise<Delivery & { attempts: Attempt[] }> {
  return dataOf(await call('GET', `/api/v1/deliveries/${id}`), 200)
}

/** A wanted value: the value itself, some of its fields, or a condition. */
type Wanted<T> =
  | (T extends readonly unknown[] ? never : T extends object ? Partial<T> : T)
  | ((value: T) => boolean)

function meets<T>(value: T, wanted: Wanted<T>): boolean {
  if (typeof wanted === 'function') return (wanted as (value: T) => boolean)(value)
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted))
    return value === (wanted as unknown)
  return Object.entries(wanted).every(([name, field]) => value[name as keyof T] === field)
}

/**
 * Repeats a read until its result is as wanted. Throws with the last result after the limit: an import of a thousand rows takes
 * minutes on a busy machine.
 */
export async function until<T>(read: () => Promise<T>, wanted: Wanted<T>, limit_ms = 300_000): Promise<T> {
  const from = performance.now()
  for (;;) {
    const value = await read()
    if (meets(value, wanted)) return value
    const waited_ms = performance.now() - from
    if (waited_ms > limit_ms) assert.fail(`never so within ${limit_ms} ms: ${JSON.stringify(value)}`)
    // A long wait reads less often: each read takes CPU time from what it waits for.
    await pause(Math.min(50, Math.max(5, waited_ms / 10)))
  }
}

/**
 * Sends a request, again while a busy PostgreSQL gives it no connection or no lock in time: then it is refused rightly, and has
 * changed nothing.
 */
export const unlessBusy = <R extends { status: number }>(send: () => Promise<R>): Promise<R> =>
  until(send, ({ status }) => status !== 503)

/** Whether the service attempts nothing now. A jump of the clock would end the leases of attempts in flight. */
export const attemptsNothing = async (call: Call): Promise<boolean> =>
  /^rapport_deliveries_in_flight 0$/m.test((await call('GET', '/metrics')).text)

/** The delivery, when it has a number of counted attempts. */
export const attempted = (call: Call, id: string, count = 1, limit_ms?: number) =>
  until(
    () => delivery(call, id),
    ({ attempt_count }) => attempt_count >= count,
    limit_ms,
  )

/** The one delivery of a webhook, as soon as it exists. */
export async function onlyDelivery(call: Call, webhook_id: string): Promise<Delivery> {
  const [one, ...more] = await until(
    () => log(call, `webhook_id=${webhook_id}`),
    (all) => all.length > 0,
  )
  assert.equal(more.length, 0)
  return one as Delivery
}
