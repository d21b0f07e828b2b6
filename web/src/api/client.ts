import createClient from 'openapi-fetch'
import { dropEarlyReads, sendRead } from './early-reads.ts'
import { type Place, placeOf } from './place.ts'
import { Problem } from './problem.ts'
import type { components, paths } from './schema'

export { type Facts, type FieldProblem, isGone, Problem } from './problem.ts'

/** The schemas of the API. */
export type Schemas = components['schemas']

type WebhookBody = paths['/api/v1/webhooks']['post']['requestBody']['content']['application/json']
/** The name of one event: not `deal.*` or `*`, which a webhook may also have. */
export type EventName = Exclude<WebhookBody['events'][number], `${string}*`>

/** The argument of a query's function: the signal by which a later query ends it. */
export type Aborted = { signal: AbortSignal }

let place: string | null = null

/**
 * Sets the place of this page (workspace and person). The service refuses later requests if the session is
 * in another place.
 */
export function setPlace(session: Place): void {
  place = placeOf(session)
}
/** Whether the page was opened by another person or in another workspace. */
export const isElsewhere = (session: Place): boolean => place !== null && place !== placeOf(session)

// Idempotency keys of POSTs without an answer, by URL and body. A repeated POST has the same key, so that
// it runs once.
const unanswered = new Map<string, string>()
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('')

const conditional = new WeakSet<Response>()

async function send(request: Request): Promise<Response> {
  const response = await sendWithKey(request)
  if (request.headers.has('if-match')) conditional.add(response)
  return response
}

// The answer to the first request, which index.html has sent before the scripts were there.
let first = (window as { session?: Promise<Response> }).session

async function sendWithKey(request: Request): Promise<Response> {
  if (first && request.method === 'GET' && request.url.endsWith('/api/v1/session')) {
    const answer = first
    first = undefined
    return answer.catch(() => window.fetch(request))
  }
  // The session reports its own place.
  if (place && !request.url.endsWith('/session')) request.headers.set('rapport-place', place)
  if (request.method === 'GET') return sendRead(request)
  dropEarlyReads()
  if (request.method !== 'POST') return window.fetch(request)
  const asked = `${request.url}\n${await request.clone().text()}`
  const key = unanswered.get(asked) ?? newKey()
  unanswered.set(asked, key)
  request.headers.set('idempotency-key', key)
  const response = await window.fetch(request)
  // A 409 can mean that the first request is still running. Keep the key.
  if (response.status < 500 && response.status !== 409) unanswered.delete(asked)
  return response
}

/** The headers of a POST that does not go through the client. Call `answered` with the status of the answer. */
export function uploadHeaders(asked: string) {
  dropEarlyReads()
  const key = unanswered.get(asked) ?? newKey()
  unanswered.set(asked, key)
  return {
    headers: { 'idempotency-key': key, ...(place && { 'rapport-place': place }) },
    answered: (status: number) => void (status < 500 && status !== 409 && unanswered.delete(asked)),
  }
}

/** The typed client of the public API. The browser adds the session cookie. */
export const api = createClient<paths>({ baseUrl: window.location.origin, fetch: send })

let refused: (problem: Problem) => void = () => {}
/** Registers a listener for every error of the API. */
export function onRefusal(listener: (problem: Problem) => void): void {
  refused = listener
}

export type Sent<T> = { data?: T; error?: unknown; response: Response }

/** The body of an answer; throws a Problem for an error or when the service cannot be reached. */
export async function answerOf<T>(asked: Promise<Sent<T>>): Promise<T> {
  let answer: Sent<T>
  try {
    answer = await asked
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Problem(0, 'unreachable', '')
  }
  const { data, error, response } = answer
  if (response.ok) return data as T
  const problem = problemOf(response, error)
  refused(problem)
  throw problem
}

/** The data of an answer, without the envelope. */
export async function dataOf<T>(asked: Promise<Sent<{ data: T }>>): Promise<T> {
  return (await answerOf(asked)).data
}

/** A record with its entity tag, for If-Match. The tag is absent if the record is not from an answer. */
export type Tagged = { etag?: string }

/** The record of an answer with its entity tag. */
export async function taggedOf<T>(asked: Promise<Sent<{ data: T }>>): Promise<T & Tagged> {
  const record = (await dataOf(asked)) as T & Tagged
  // A proxy that compresses makes tags weak, and If-Match takes strong ones only.
  const etag = (await asked).response.headers.get('etag')?.replace(/^W\//, '')
  return etag ? { ...record, etag } : record
}

// The answer to HEAD has no body.
const codes: Record<number, string> = {
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  429: 'rate_limited',
  503: 'unavailable',
}

function problemOf(response: Response, body: unknown): Problem {
  const answered = (body as { error?: Partial<Problem> } | undefined)?.error
  const request_id = answered?.request_id ?? response.headers.get('x-request-id')
  const problem = new Problem(
    response.status,
    answered?.code ?? codes[response.status] ?? 'internal_error',
    answered?.message ?? '',
    request_id,
  )
  problem.fields = answered?.fields ?? []
  problem.reason = answered?.reason ?? null
  problem.facts = answered?.facts ?? {}
  problem.conditional = conditional.has(response)
  problem.merged_into_id = answered?.merged_into_id ?? null
  problem.retry_after_s = Number(response.headers.get('retry-after')) || 0
  return problem
}

/** The outcome of many items. */
export type Outcomes<Item> = {
  done: Item[]
  failed: { item: Item; problem: Problem }[]
  /** Items that were not begun, because the work was stopped. */
  stopped: Item[]
  /** Of what is done: the items that were so already. */
  unchanged: ReadonlySet<Item>
}

/** Runs `work` for each item, four at a time. Waits and retries when the service is busy (429, 503). */
export async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  onProgress: (done: number) => void = () => {},
  signal?: AbortSignal,
): Promise<Outcomes<Item>> {
  const done: Item[] = []
  const failed: { item: Item; problem: Problem }[] = []
  const waiting = [...items]
  const refused: Item[] = []
  async function next(): Promise<void> {
    while (!signal?.aborted) {
      const item = waiting.shift()
      if (item === undefined) return
      try {
        await patiently(work, item, signal)
        done.push(item)
      } catch (error) {
        if (signal?.aborted && isBusy(error)) refused.push(item)
        else failed.push({ item, problem: error as Problem })
      }
      onProgress(done.length + failed.length)
    }
  }
  await Promise.all(Array.from({ length: 4 }, next))
  return { done, failed, stopped: [...refused, ...waiting], unchanged: new Set() }
}

/** Whether the service refused a request because it is busy. */
export const isBusy = (error: unknown): boolean => [429, 503].includes((error as Problem).status)

/** Runs work on an item. Waits and retries when the service is busy; `signal` ends the wait with the refusal. */
export async function patiently<Item, Made>(
  work: (item: Item) => Promise<Made>,
  item: Item,
  signal?: AbortSignal,
): Promise<Made> {
  for (let tries = 0; ; tries++) {
    try {
      return await work(item)
    } catch (error) {
      if (!isBusy(error) || tries === 5) throw error
      await pause(Math.max(1, (error as Problem).retry_after_s) * 1000, signal)
      if (signal?.aborted) throw error
    }
  }
}

/** Resolves after a time, or when the signal aborts. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    function end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
  })
}
