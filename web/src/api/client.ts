import createClient from 'openapi-fetch'
import type { components, paths } from './schema'

/** The records as the API answers them. */
export type Schemas = components['schemas']

type WebhookBody = paths['/api/v1/webhooks']['post']['requestBody']['content']['application/json']
/** The events that a webhook may ask for. */
export type EventName = WebhookBody['events'][number]

export type FieldProblem = { field: string; code: string; message: string }

/** An answer that is an error, as the API tells it; status 0 when there was no answer at all. */
export class Problem extends Error {
  status: number
  code: string
  request_id: string | null
  fields: FieldProblem[]
  retry_after_s: number
  constructor(status: number, code: string, message: string, request_id: string | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.request_id = request_id
    this.fields = []
    this.retry_after_s = 0
  }
}

let place: string | null = null

/** Says where this page is: from now on the service refuses what it sends while the session is anywhere else. */
export function setPlace(session: { workspace: { id: number }; user: { id: string } }): void {
  place = placeOf(session)
}
/** Whether the page was opened as somebody else, or in another workspace. */
export const isElsewhere = (session: Parameters<typeof setPlace>[0]): boolean =>
  place !== null && place !== placeOf(session)
const placeOf = ({ workspace, user }: Parameters<typeof setPlace>[0]) => `${workspace.id}/${user.id}`

// POSTs whose answer did not come, by what they ask: the same one again has the same key, so that it is done once.
const unanswered = new Map<string, string>()
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('')

async function send(request: Request): Promise<Response> {
  // The session itself tells where it is.
  if (place && !request.url.endsWith('/session')) request.headers.set('rapport-place', place)
  if (request.method !== 'POST') return window.fetch(request)
  const asked = `${request.url}\n${await request.clone().text()}`
  const key = unanswered.get(asked) ?? newKey()
  unanswered.set(asked, key)
  request.headers.set('idempotency-key', key)
  const response = await window.fetch(request)
  // A conflict may be that the first one is still under way: whatever comes of it, the same key belongs to it.
  if (response.status < 500 && response.status !== 409) unanswered.delete(asked)
  return response
}

/** The typed client of the public API: the browser adds the session's cookie. */
export const api = createClient<paths>({ baseUrl: window.location.origin, fetch: send })

let refused: (problem: Problem) => void = () => {}
/** Tells of every answer that is an error, whoever asked. */
export function onRefusal(listener: (problem: Problem) => void): void {
  refused = listener
}

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** The body of an answer; throws a Problem for an error or when the service cannot be reached. */
export async function answerOf<T>(asked: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>
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

/** The record or the records of an answer, without the envelope. */
export async function dataOf<T>(asked: Promise<Answer<{ data: T }>>): Promise<T> {
  return (await answerOf(asked)).data
}

function problemOf(response: Response, body: unknown): Problem {
  const told = (body as { error?: Partial<Problem> } | undefined)?.error
  const request_id = told?.request_id ?? response.headers.get('x-request-id')
  const problem = new Problem(
    response.status,
    told?.code ?? 'internal_error',
    told?.message ?? '',
    request_id,
  )
  problem.fields = told?.fields ?? []
  problem.retry_after_s = Number(response.headers.get('retry-after')) || 0
  return problem
}

/** Does a piece of work for each item, a few at a time; waits when the service says that it is too much. */
export async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  onProgress: (done: number) => void = () => {},
): Promise<{ done: Item[]; failed: { item: Item; problem: Problem }[] }> {
  const done: Item[] = []
  const failed: { item: Item; problem: Problem }[] = []
  const waiting = [...items]
  async function next(): Promise<void> {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await patiently(work, item)
        done.push(item)
      } catch (error) {
        failed.push({ item, problem: error as Problem })
      }
      onProgress(done.length + failed.length)
    }
  }
  await Promise.all(Array.from({ length: 4 }, next))
  return { done, failed }
}

async function patiently<Item>(work: (item: Item) => Promise<unknown>, item: Item) {
  for (let tries = 0; ; tries++) {
    try {
      return await work(item)
    } catch (error) {
      const { status, retry_after_s } = error as Problem
      if ((status !== 429 && status !== 503) || tries === 5) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, retry_after_s) * 1000))
    }
  }
}
