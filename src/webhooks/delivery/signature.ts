import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const standard_prefix = 'whsec_'
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export type SignatureInput = {
  /** The current secret; during a rotation's overlap the old one and the new one, in this order. */
  secrets: readonly string[]
  delivery_id: string
  /** Unix seconds. */
  timestamp: number
  /** Exactly what goes on the wire. */
  body: string | Uint8Array
}

/** A new secret in the form of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export function generateSecret(): string {
  return standard_prefix + randomBytes(32).toString('base64')
}

/** What is wrong with a secret that a client gave, as a sentence, or null when it can be used (contract: webhooks). */
export function secretProblem(secret: string): string | null {
  if (secret.length < 16 || secret.length > 255) return 'secret must have 16 to 255 characters.'
  if (!/^[\x20-\x7e]+$/.test(secret)) return 'secret must consist of printable ASCII characters.'
  if (!secret.startsWith(standard_prefix)) return null
  return base64.test(secret.slice(standard_prefix.length))
    ? null
    : 'secret begins with whsec_, so the rest must be base64 with its padding.'
}

/**
 * The headers that let a receiver check a delivery, by either of two conventions: `X-Service-Signature` (interface,
 * section 5) and the three headers of Standard Webhooks 1.0. In an overlap the old secret still makes
 * `X-Service-Signature`, so that receivers change over when it suits them (contract: rotation without a gap).
 */
export function signatureHeaders(input: SignatureInput): Record<string, string> {
  const { secrets, delivery_id, timestamp, body } = input
  const [current, next] = secrets
  if (current === undefined || secrets.length > 2) throw new Error('one or two secrets sign a delivery')

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

// In parts: to put them together would copy the body.
function standardSignature(secret: string, signed: readonly Bytes[]): string {
  const hmac = createHmac('sha256', keysOf(secret).standard)
  for (const part of signed) hmac.update(part)
  return `v1,${hmac.digest('base64')}`
}

// To make a key costs up to four times what signing with it does, and a webhook's secret signs often.
type Keys = { service: KeyObject; standard: KeyObject }
const known = new Map<string, Keys>()
const most_known = 1000

function keysOf(secret: string): Keys {
  let keys = known.get(secret)
  if (!keys) {
    const service = createSecretKey(secret, 'utf8')
    const decoded = secret.startsWith(standard_prefix)
    const standard = decoded ? createSecretKey(secret.slice(standard_prefix.length), 'base64') : service
    keys = { service, standard }
    if (known.size >= most_known) known.clear()
    known.set(secret, keys)
  }
  return keys
}
