import { contentOf, pathOf, queryOf } from './encode.ts'
import { errorOf, RapportError } from './errors.ts'
import { remember } from './responses.ts'
import { retryDelay, wait } from './retry.ts'

/** The options of a call, beside its arguments. */
export type Options = {
  /** Ends the call, its waits and its retries. The call throws the signal's reason. */
  signal?: AbortSignal | undefined
  /** For each attempt. */
  timeout_ms?: number | undefined
  max_retries?: number | undefined
  /** The client makes one for each POST. Give your own to repeat a call after a restart of your program. */
  idempotency_key?: string | undefined
  /** Refuses to overwrite a newer version (412). An ETag, or a record that this client returned. */
  if_match?: string | object | undefined
  headers?: Record<string, string> | undefined
}

/** The body of an operation that takes a file. */
export type RawBody =
  | string
  | Blob
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>
  | ReadableStream<Uint8Array>
  | FormData

/** How an operation is called. Generated from the OpenAPI document. */
export type Route = {
  method: string
  /** Such as /api/v1/contacts/{id}. */
  path: string
  answer: string
  /** The media type of its body. */
  body?: string
  query?: boolean
  /** Takes an Idempotency-Key. */
  repeatable?: boolean
  /** An iterator over all pages, by this parameter. */
  each?: string
  /** Takes the length of a page. */
  per_page?: boolean
}

export type Settings = {
  /** Such as https://crm.example. */
  url: string
  /** An API key, crm_… */
  key: string
  /** For each attempt. Default 30,000. */
  timeout_ms?: number | undefined
  /** Default 4. 0 turns retries off. */
  max_retries?: number | undefined
  /** Longer waits than this are not made: the call throws. Default 60,000. */
  max_wait_ms?: number | undefined
  /** Sent with every request. */
  headers?: Record<string, string> | undefined
  fetch?: typeof globalThis.fetch | undefined
}

export type Call = { path: unknown[]; body?: unknown; query?: object | undefined; options: Options }

/** Calls an operation, with retries. Resolves to its data, its page, nothing, or the response itself. */
export async function call(
  settings: Settings,
  route: Route,
  { path, body, query, options }: Call,
): Promise<unknown> {
  const url = settings.url.replace(/\/+$/, '') + pathOf(route.path, path) + queryOf(query)
  const request = { method: route.method, ...contentOf(settings, route, body, options) }
  const max_retries = options.max_retries ?? settings.max_retries ?? 4
  let unanswered = false
  for (let retries = 0; ; retries++) {
    try {
      return await attempt(settings, url, request, route, options)
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!(error instanceof RapportError)) throw error
      // The earlier attempt, whose answer was lost, has deleted the record.
      if (unanswered && route.method === 'DELETE' && error.status === 404) return undefined
      if (retries >= max_retries || !mayRetry(error, route, request.body, unanswered)) throw error
      unanswered ||= [0, 502, 504].includes(error.status)
      const delay_ms = retryDelay(error, retries)
      if (delay_ms > (settings.max_wait_ms ?? 60_000)) throw error
      await wait(delay_ms, options.signal)
    }
  }
}

/** Whether a repeated request can succeed, and cannot do its work twice. */
function mayRetry({ status }: RapportError, route: Route, body: unknown, unanswered: boolean): boolean {
  // A stream can be sent once only.
  if (body instanceof ReadableStream) return false
  if (status === 429) return true
  if (route.method === 'POST' && !route.repeatable) return false
  // The earlier attempt, whose answer was lost, may still run.
  if (status === 409) return unanswered && route.method === 'POST'
  return [0, 502, 503, 504].includes(status)
}

type Init = { method: string; headers: Record<string, string>; body?: unknown }

async function attempt(settings: Settings, url: string, init: Init, route: Route, options: Options) {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), options.timeout_ms ?? settings.timeout_ms ?? 30_000)
  const signal = options.signal ? AbortSignal.any([options.signal, timeout.signal]) : timeout.signal
  const fetch = settings.fetch ?? globalThis.fetch
  const streamed = init.body instanceof ReadableStream ? { duplex: 'half' } : {}
  try {
    // The API redirects nobody, and another address must not get the key.
    const response = await fetch(url, { ...init, ...streamed, signal, redirect: 'manual' } as RequestInit)
    if (!response.ok) throw await errorOf(response)
    return await read(response, route)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (error instanceof RapportError && !timeout.signal.aborted) throw error
    const [code, reason] = timeout.signal.aborted
      ? ['timeout', 'no answer in time']
      : ['unreachable', reasonOf(error)]
    throw new RapportError(0, code, `${init.method} ${url} failed: ${reason}`, { cause: error })
  } finally {
    // A response that is returned as a stream may take longer.
    clearTimeout(timer)
  }
}

// fetch of Node says "fetch failed", and the reason is its cause.
const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error
  return cause instanceof Error && cause.message ? cause.message : message
}

async function read(response: Response, { answer }: Route): Promise<unknown> {
  if (answer === 'response') return response
  const { data, meta } = parse(await response.text(), response.status)
  if (answer === 'nothing') return undefined
  const result = answer === 'page' ? { data, meta } : data
  remember(result, response)
  return result
}

function parse(text: string, status: number): { data?: unknown; meta?: unknown } {
  try {
    const parsed = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) throw new TypeError('It is not an object.')
    return parsed
  } catch (cause) {
    throw new RapportError(status, 'invalid_answer', 'The answer is not that of Rapport. Check the url.', {
      cause,
    })
  }
}
