import createClient from 'openapi-fetch'
import type { components, paths } from './schema'

/** The records as the API answers them. */
export type Schemas = components['schemas']

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

/** The typed client of the public API: the browser adds the session's cookie. */
export const api = createClient<paths>({
  baseUrl: window.location.origin,
  // Read when it is called, so that what watches requests from outside sees them all.
  fetch: (request) => window.fetch(request),
})

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
  throw problemOf(response, error)
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
