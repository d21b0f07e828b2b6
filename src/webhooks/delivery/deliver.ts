import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { SecureContext } from 'node:tls'
import { Agent, type Dispatcher } from 'undici'
import { systemClock } from '../../clock.ts'
import { storable } from '../../db/statements/recordset.ts'
import { type Headers, hidden } from '../registration/headers.ts'
import type { TargetPolicy } from '../registration/target.ts'
import { type AttemptError, attemptError, guardedConnector } from './connector.ts'
import type { HttpProxy } from './proxy.ts'
import { type Resolve, resolveHost } from './resolve.ts'

export { attempt_error_codes } from './connector.ts'

export type AttemptRequest = {
  url: string
  headers: Record<string, string>
  /** Headers of the webhook, which replace others of the same name. The outcome does not have their values. */
  own_headers?: Headers | null
  body: string | Uint8Array
}
/**
 * `mayStart` is called right before the first byte is sent. If it returns false, nothing is sent. `timeout_ms` replaces the
 * sender's.
 */
export type SendRequest = AttemptRequest & { timeout_ms?: number | null; mayStart?: () => boolean }
export type AttemptResponse = { status: number; headers: Record<string, string>; body: string }

export type AttemptOutcome = {
  started_at_ms: number
  duration_ms: number
  /** As sent, without the body and the headers that the connection adds (host, content-length, connection). */
  request: Omit<AttemptRequest, 'body' | 'own_headers'>
  response: AttemptResponse | null
  error: AttemptError | null
  ok: boolean
}

export type SenderOptions = {
  policy: TargetPolicy
  /** The timeout of the whole attempt, from the name look-up to the last byte that is kept. */
  timeout_ms: number
  connect_timeout_ms?: number
  max_response_bytes?: number
  /** At least the number of concurrent attempts. A request that waits for a connection uses up its timeout. */
  connections_per_origin?: number
  /** The product's version, for the User-Agent header. */
  version: string
  /** Replaces the default certificate authorities. */
  secureContext?: SecureContext | undefined
  /** Deliveries go through this proxy. */
  proxy?: HttpProxy | null
  resolve?: Resolve
  /** The wall clock, in Unix milliseconds. Durations do not depend on it. */
  now?: () => number
}

export type Sender = {
  send(request: SendRequest): Promise<AttemptOutcome>
  close(how?: 'at once'): Promise<void>
}

/** The result of one exchange on one connection. `stale`: the receiver had closed a kept-alive connection. */
type Exchange = { response: AttemptResponse | null; error: AttemptError | null; stale: boolean }

const idle_ms = 30_000
const maxHeaderSize = 16_384

/**
 * Creates the one sender of a process. `send` makes one attempt and never rejects: an error is an outcome. A 2xx status is
 * a success when the headers are complete. It follows no redirect, decompresses nothing and stops reading at the limits
 * (contract: webhooks, timeouts). `close` waits for running attempts, or ends them at once.
 */
export function createSender(options: SenderOptions): Sender {
  const { policy, version, secureContext, proxy, now = systemClock.now, resolve = resolveHost } = options
  const { connect_timeout_ms = 5000, max_response_bytes = 16_384, connections_per_origin = 512 } = options

  const connect = guardedConnector({ policy, connect_timeout_ms, resolve, secureContext, proxy })
  // Turn undici's own timeouts off: they are imprecise, and restart with each received chunk.
  const common = { connect, allowH2: false, maxHeaderSize, headersTimeout: 0, bodyTimeout: 0 }
  const idle = { keepAliveTimeout: idle_ms, keepAliveMaxTimeout: idle_ms }
  const agent = new Agent({ ...common, ...idle, pipelining: 1, connections: connections_per_origin })
  // Pipelining 0 means a new connection for every request.
  const unshared = new Agent({ ...common, pipelining: 0 })

  // Only this channel reports the socket of a request, right after the handler's onRequestStart.
  let starting: { reused: boolean } | null = null
  const used = new WeakSet<object>()
  const onHeadersSent = (message: unknown) => {
    const { socket } = message as { socket: object }
    if (starting !== null) starting.reused = used.has(socket)
    starting = null
    used.add(socket)
  }
  subscribe('undici:client:sendHeaders', onHeadersSent)
  let closing: Promise<void> | null = null

  function exchange(dispatcher: Agent, request: SendRequest, started: number): Promise<Exchange> {
    const timeout_ms = request.timeout_ms ?? options.timeout_ms
    const deadline = started + timeout_ms
    return new Promise((settle) => {
      const connection = { reused: false }
      const chunks: Buffer[] = []
      let controller: Dispatcher.DispatchController | null = null
      let head: Omit<AttemptResponse, 'body'> | null = null
      let kept = 0
      let answered = false
      let settled = false

      const finish = (error: AttemptError | null) => {
        if (settled) return
        settled = true
        clearTimeout(timer)
        const stale = error?.code === 'connection_reset' && connection.reused && !answered
        const response = head && { ...head, body: text(chunks, max_response_bytes) }
        settle({ response, error: head === null ? error : null, stale })
      }
      const drop = () => controller?.abort(new Error('the attempt is over'))
      const late = () => {
        if (settled) return
        finish({ code: 'timeout', message: `No answer within ${timeout_ms} ms.` })
        drop()
      }
      // After a pause of this process, the timer comes before the answers that have arrived. They are read first.
      const timer = setTimeout(setImmediate, Math.max(0, deadline - performance.now()), late)

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(started) {
          controller = started
          // The request waited for a connection until after its timeout, or may no longer start. Do not send it.
          if (settled || request.mayStart?.() === false) return drop()
          starting = connection
        },
        onResponseStarted() {
          answered = true
        },
        onResponseStart(_controller, status, headers) {
          if (status >= 200) head = { status, headers: readable(headers) }
        },
        onResponseData(_controller, chunk) {
          const room = max_response_bytes - kept
          if (room > 0) chunks.push(chunk.subarray(0, room))
          kept += chunk.length
          if (kept <= max_response_bytes) return
          finish(null)
          drop()
        },
        onResponseEnd() {
          finish(null)
        },
        onResponseError(_controller, error) {
          finish(attemptError(error))
        },
      }

      try {
        const { origin, path } = targetOf(request.url)
        const { headers, body } = request
        dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, handler)
      } catch (error) {
        finish(attemptError(error))
      }
    })
  }

  return {
    async send({ url, headers, own_headers, body, timeout_ms, mayStart }) {
      const defaults = { 'user-agent': `Rapport-Webhooks/${version}`, 'accept-encoding': 'identity' }
      const plain = withoutOwn({ ...headers, ...defaults }, own_headers)
      const sent = { url, headers: { ...plain, ...masked(own_headers) } }
      const request = { url, headers: { ...plain, ...own_headers }, body, timeout_ms, mayStart }
      const started_at_ms = now()
      const started = performance.now()

      let { response, error, stale } = await exchange(agent, request, started)
      // The receiver closed an idle connection while the request was sent. This is not a failure of the receiver: retry once.
      if (stale && mayStart?.() !== false) ({ response, error } = await exchange(unshared, request, started))

      // Round up, so that a retry counted from the end of the attempt is never early.
      const duration_ms = Math.ceil(performance.now() - started)
      if (response !== null) error = statusError(response.status)
      return { started_at_ms, duration_ms, request: sent, response, error, ok: error === null }
    },
    close(how) {
      const end = (dispatcher: Agent) => (how ? dispatcher.destroy() : dispatcher.close())
      closing ??= Promise.all([agent, unshared].map(end)).then(() => {
        unsubscribe('undici:client:sendHeaders', onHeadersSent)
      })
      return closing
    },
  }
}

function withoutOwn(headers: Headers, own?: Headers | null): Headers {
  if (!own) return headers
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase())))
}

const masked = (own?: Headers | null): Headers =>
  Object.fromEntries(Object.keys(own ?? {}).map((name) => [name, hidden]))

type Target = { origin: string; path: string }
// Parsed URLs: few webhooks receive most deliveries.
const targets = new Map<string, Target>()
const max_targets = 1000

function targetOf(url: string): Target {
  let target = targets.get(url)
  if (!target) {
    const parsed = URL.parse(url)
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      throw new Error('The URL must begin with http:// or https://.')
    target = { origin: parsed.origin, path: parsed.pathname + parsed.search }
    if (targets.size >= max_targets) targets.clear()
    targets.set(url, target)
  }
  return target
}

function statusError(status: number): AttemptError | null {
  if (status >= 200 && status <= 299) return null
  if (status >= 300 && status <= 399) {
    const message = `The answer was a redirect (${status}), which is not followed.`
    return { code: 'redirect_not_followed', message }
  }
  return { code: 'http_error', message: `The answer had the status ${status}.` }
}

function readable(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name] ?? ''
    texts[name] = storable(typeof value === 'string' ? value : value.join(', '))
  }
  return texts
}

/** The body as text of at most `limit` bytes. An incomplete character at the end is left out. */
function text(chunks: Buffer[], limit: number): string {
  if (chunks.length === 0) return ''
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  // A streaming decoder is slow to create, and only needed when the body was cut.
  const decoded = storable(bytes.length < limit ? bytes.toString('utf8') : cutText(bytes))
  // Each invalid byte became three bytes, so cut the text again if needed.
  return Buffer.byteLength(decoded) <= limit ? decoded : cutText(Buffer.from(decoded).subarray(0, limit))
}

function cutText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
}
