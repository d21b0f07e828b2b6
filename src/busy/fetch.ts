import type { SecureContext } from 'node:tls'
import { Agent, type Dispatcher } from 'undici'
import { type AttemptError, attemptError, guardedConnector } from '../webhooks/delivery/connector.ts'
import type { HttpProxy } from '../webhooks/delivery/proxy.ts'
import { resolveHost } from '../webhooks/delivery/resolve.ts'
import type { TargetPolicy } from '../webhooks/registration/target.ts'

export type FetchError = { code: AttemptError['code'] | 'too_large' | 'invalid_calendar'; message: string }
/** The headers of the last answer, by which the next request asks for changes. */
export type Validators = { etag: string | null; last_modified: string | null }
export type Fetched = { text: string; validators: Validators } | 'not modified' | { error: FetchError }

export type FetchOptions = {
  policy: TargetPolicy
  proxy: HttpProxy | null
  secureContext: SecureContext | undefined
  /** The product's version, for the User-Agent header. */
  version: string
}
type Asked = { url: string; username: string | null; password: string | null } & Validators

const most_bytes = 10 * 1024 * 1024
const most_redirects = 3
const timeout_ms = 30_000

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }
class Refused extends Error {
  readonly error: FetchError
  constructor(error: FetchError) {
    super(error.message)
    this.error = error
  }
}

/**
 * Fetches a calendar over HTTP within 30 s and 10 MiB. The rules of webhook targets hold for each address and each
 * redirect. `stopping` ends it, as the time does. Never rejects: an error is an answer.
 */
export async function fetchCalendar(
  asked: Asked,
  options: FetchOptions,
  stopping: AbortSignal,
): Promise<Fetched> {
  const { policy, proxy, secureContext } = options
  const connect = guardedConnector({
    policy,
    connect_timeout_ms: 5000,
    resolve: resolveHost,
    secureContext,
    proxy,
  })
  const agent = new Agent({
    connect,
    allowH2: false,
    maxHeaderSize: 16_384,
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 0,
  })
  const signal = AbortSignal.any([AbortSignal.timeout(timeout_ms), stopping])
  try {
    return await follow(agent, asked, options.version, signal)
  } catch (error) {
    if (error instanceof Refused) return { error: error.error }
    if (signal.aborted)
      return { error: { code: 'timeout', message: `No whole answer within ${timeout_ms / 1000} s.` } }
    return { error: attemptError(error) }
  } finally {
    await agent.destroy()
  }
}

async function follow(agent: Agent, asked: Asked, version: string, signal: AbortSignal): Promise<Fetched> {
  const first = new URL(asked.url)
  let url = first
  for (let redirects = 0; ; redirects++) {
    const own_host = url.origin === first.origin
    const answer = await get(agent, url, headersFor(asked, version, own_host), signal)
    const location = answer.headers.location
    if ([301, 302, 303, 307, 308].includes(answer.status) && typeof location === 'string') {
      url = redirected(url, location, redirects)
      continue
    }
    if (answer.status === 304 && (asked.etag || asked.last_modified)) return 'not modified'
    if (answer.status !== 200)
      throw new Refused({ code: 'http_error', message: `The answer had the status ${answer.status}.` })
    const text = (name: string) => [answer.headers[name]].flat()[0]?.slice(0, 1000) ?? null
    return {
      // Node reads a BOM as a character, which the reader accepts.
      text: answer.body.toString('utf8'),
      validators: { etag: text('etag'), last_modified: text('last-modified') },
    }
  }
}

function redirected(from: URL, location: string, redirects: number): URL {
  const refuse = (why: string) =>
    new Refused({ code: 'redirect_not_followed', message: `The redirect is not followed: ${why}` })
  if (redirects >= most_redirects) throw refuse(`there are more than ${most_redirects}.`)
  const to = URL.parse(location, from.href)
  if (!to || !/^https?:$/.test(to.protocol)) throw refuse('its address is not a web address.')
  if (to.username || to.password) throw refuse('its address has a user name.')
  if (from.protocol === 'https:' && to.protocol === 'http:') throw refuse('it leads from https to http.')
  return to
}

function headersFor({ username, password, etag, last_modified }: Asked, version: string, own_host: boolean) {
  const credentials = own_host && (username !== null || password !== null)
  return {
    'user-agent': `Rapport-Calendars/${version}`,
    accept: 'text/calendar',
    'accept-encoding': 'identity',
    ...(etag && { 'if-none-match': etag }),
    ...(last_modified && { 'if-modified-since': last_modified }),
    ...(credentials && {
      authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}`,
    }),
  }
}

/** One GET. Rejects with an error of undici, of the connector, or with Refused above 10 MiB. */
function get(agent: Agent, url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let head: Omit<Answer, 'body'> | undefined
    let size = 0
    let running: Dispatcher.DispatchController | undefined
    const stop = (error: Error) => {
      reject(error)
      running?.abort(error)
    }
    const onAbort = () => stop(new Error('The time is over.'))
    signal.addEventListener('abort', onAbort, { once: true })
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        running = controller
        if (signal.aborted) onAbort()
      },
      onResponseStart(_controller, status, given) {
        if (status >= 200) head = { status, headers: given }
      },
      onResponseData(_controller, chunk) {
        // Only the calendar itself is kept.
        if (head?.status !== 200) return
        chunks.push(chunk)
        size += chunk.length
        if (size > most_bytes)
          stop(new Refused({ code: 'too_large', message: 'The calendar has more than 10 MiB.' }))
      },
      onResponseEnd() {
        signal.removeEventListener('abort', onAbort)
        if (head) resolve({ ...head, body: Buffer.concat(chunks) })
        else reject(new Error('The answer has no status.'))
      },
      onResponseError(_controller, error) {
        signal.removeEventListener('abort', onAbort)
        reject(error)
      },
    }
    agent.dispatch({ origin: url.origin, path: url.pathname + url.search, method: 'GET', headers }, handler)
  })
}
