import type { Event } from './generated/types.ts'

/** The request that POST /webhooks/{id}/test sends. */
export type PingEvent = {
  id: string
  event: 'ping'
  timestamp: string
  webhook_id: string
  data: { message: string }
}

/** The body of a webhook's request. Its `event` tells the type of `data`. Ignore names that you do not know. */
export type WebhookEvent = (Event & { webhook_id: string }) | PingEvent

/** The event with this name, such as `EventOf<'deal.won'>`. */
export type EventOf<Name extends WebhookEvent['event']> = Extract<WebhookEvent, { event: Name }>

export type WebhookProblem = 'missing_signature' | 'invalid_timestamp' | 'invalid_signature' | 'invalid_body'

/** A request that is not a genuine delivery. Answer it with 401. */
export class WebhookError extends Error {
  readonly code: WebhookProblem
  constructor(code: WebhookProblem, message: string) {
    super(message)
    this.name = 'WebhookError'
    this.code = code
  }
}

export type VerifyOptions = {
  /** How old or how far in the future `webhook-timestamp` may be. Default 300. */
  tolerance_s?: number
  /**
   * False: also accepts requests that have only `X-Service-Signature`. It signs no time, so anybody who has seen such a
   * request can send it again.
   */
  require_timestamp?: boolean
  /** Milliseconds since 1970, for tests. */
  now?: () => number
}

/** Headers of a fetch request, or of a Node request. */
export type HeadersLike = Headers | Record<string, string | string[] | undefined>
export type RawWebhookBody = string | ArrayBuffer | Uint8Array

const utf8 = new TextEncoder()

/**
 * Checks that a request is a delivery of your webhook, and returns its event. `rawBody` is the body as it arrived, not
 * parsed JSON. While you rotate the secret, give both secrets. Throws a WebhookError.
 */
export async function verifyWebhook(
  headers: HeadersLike,
  rawBody: RawWebhookBody,
  secret: string | readonly string[],
  { tolerance_s = 300, require_timestamp = true, now = Date.now }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!secrets.length || secrets.some((one) => !one)) throw new TypeError('secret is empty.')
  const header = (name: string) => headerOf(headers, name)
  const body = typeof rawBody === 'string' ? utf8.encode(rawBody) : new Uint8Array(rawBody)

  const signature = header('webhook-signature')
  if (signature !== null) {
    const id = header('webhook-id') ?? ''
    const timestamp = header('webhook-timestamp') ?? ''
    checkTime(timestamp, tolerance_s, now())
    const signed = joined(utf8.encode(`${id}.${timestamp}.`), body)
    const given = signature
      .split(' ')
      .flatMap((one) => (one.startsWith('v1,') ? [bytesOfBase64(one.slice(3))] : []))
    await check(secrets.map(standardKey), given, signed)
  } else {
    if (require_timestamp)
      throw new WebhookError('missing_signature', 'The header webhook-signature is missing.')
    const given = ['x-service-signature', 'x-service-signature-next'].map((name) => bytesOfHex(header(name)))
    if (given.every((one) => one === null))
      throw new WebhookError('missing_signature', 'The headers have no signature.')
    await check(
      secrets.map((one) => utf8.encode(one)),
      given,
      body,
    )
  }
  return parse(body)
}

/** Throws unless one of the signatures was made with one of the keys. `verify` compares in constant time. */
async function check(keys: Bytes[], signatures: (Bytes | null)[], signed: Bytes): Promise<void> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
    for (const signature of signatures)
      if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return
  }
  throw new WebhookError('invalid_signature', 'No signature matches the body and the secret.')
}

type Bytes = Uint8Array<ArrayBuffer>

function checkTime(timestamp: string, tolerance_s: number, now_ms: number): void {
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (Math.abs(now_ms / 1000 - seconds) <= tolerance_s) return
  throw new WebhookError(
    'invalid_timestamp',
    `webhook-timestamp is not within ${tolerance_s} s of the clock.`,
  )
}

// Standard Webhooks: what follows whsec_ is base64. Any other secret is a text.
function standardKey(secret: string): Bytes {
  if (!secret.startsWith('whsec_')) return utf8.encode(secret)
  const key = bytesOfBase64(secret.slice('whsec_'.length))
  if (!key?.length) throw new TypeError('secret begins with whsec_, but the rest is not base64.')
  return key
}

function bytesOfBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function bytesOfHex(header: string | null): Bytes | null {
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  return hex === undefined
    ? null
    : Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

function joined(first: Bytes, second: Bytes): Bytes {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

const isHeaders = (headers: HeadersLike): headers is Headers => typeof headers.get === 'function'

function headerOf(headers: HeadersLike, name: string): string | null {
  // Not instanceof: frameworks and tests have classes of their own.
  if (isHeaders(headers)) return headers.get(name)
  const key = Object.keys(headers).find((one) => one.toLowerCase() === name)
  const value = key === undefined ? undefined : headers[key]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

function parse(body: Bytes): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as WebhookEvent
  } catch (cause) {
    throw Object.assign(new WebhookError('invalid_body', 'The body is signed, but it is not JSON.'), {
      cause,
    })
  }
}
