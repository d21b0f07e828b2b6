import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const standard_prefix = 'whsec_'
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export type SignatureInput = {
  /** The current secret. During a rotation's overlap: the old secret, then the new one. */
  secrets: readonly string[]
  delivery_id: string
  /** Unix seconds. */
  timestamp: number
  /** The exact bytes of the request body. */
  body: string | Uint8Array
}

/** A new secret in the format of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export function generateSecret(): string {
  return standard_prefix + randomBytes(32).toString('base64')
}

/** A sentence that says why a given secret is invalid, or null when it is valid (contract: webhooks). */
export function secretProblem(secret: string): string | null {
  if (secret.length < 16 || secret.length > 255) return 'secret must have 16 to 255 characters.'
  if (!/^[\x20-\x7e]+$/.test(secret)) return 'secret must consist of printable ASCII characters.'
  if (!secret.startsWith(standard_prefix)) return null
  return base64.test(secret.slice(standard_prefix.length))
    ? null
    : 'secret starts with whsec_, so the rest must be base64 with padding.'
}

/**
 * The signature headers in two conventions: `X-Service-Signature` (interface, section 5) and the three headers of
 * Standard Webhooks 1.0. During an overlap, the old secret still signs `X-Service-Signature`. So a receiver can change
 * its secret at any time of the overlap (contract: rotation without a gap).
 */
export function signatureHeaders(input: SignatureInput): Record<string, string> {
  const { secrets, delivery_id, timestamp, body } = input
  const [current, next] = secrets
  if (current === undefined || secrets.length > 2)
    throw new Error('A delivery needs one or two secrets to sign it.')

  const signed = [`${delivery_id}.${timestamp}.`, body]
  const headers: Record<string, string> = { 'X-Service-Signature': serviceSignature(current, body) }
  if (next !== undefined) headers['X-Service-Signature-Next'] = serviceSignature(next, body)
  headers['webhook-id'] = delivery_id
  headers['webhook-timestamp'] = String(timestamp)
  headers['webhook-signature'] = secrets.map((secret) => standardSignature(secret, signed)).join(' ')
  return headers
}

type Bytes = SignatureInput['body']

function serviceSignature(secret: string, body: Bytes): string {
  return `sha256=${createHmac('sha256', keysOf(secret).service).update(body).digest('hex')}`
}

// Update the HMAC part by part: joining the parts would copy the body.
function standardSignature(secret: string, signed: readonly Bytes[]): string {
  const hmac = createHmac('sha256', keysOf(secret).standard)
  for (const part of signed) hmac.update(part)
  return `v1,${hmac.digest('base64')}`
}

// Creating a key takes up to four times as long as signing with it, so keep the keys.
type Keys = { service: KeyObject; standard: KeyObject }
const keys_by_secret = new Map<string, Keys>()
const max_cached_keys = 1000

function keysOf(secret: string): Keys {
  let keys = keys_by_secret.get(secret)
  if (!keys) {
    const service = createSecretKey(secret, 'utf8')
    const decoded = secret.startsWith(standard_prefix)
    const standard = decoded ? createSecretKey(secret.slice(standard_prefix.length), 'base64') : service
    keys = { service, standard }
    if (keys_by_secret.size >= max_cached_keys) keys_by_secret.clear()
    keys_by_secret.set(secret, keys)
  }
  return keys
}
