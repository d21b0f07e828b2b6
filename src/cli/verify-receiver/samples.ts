import { isoTime, systemClock } from '../../clock.ts'
import { newId } from '../../db/ids.ts'
import { payloadOfType } from '../../http/openapi/events.ts'
import { resources } from '../../resources/index.ts'
import { signatureHeaders } from '../../webhooks/delivery/signature.ts'
import type { Sent } from './exchange.ts'

/** Which of the two signatures are made with the secret; the others are wrong. */
export type Signed = 'both' | 'service' | 'standard' | 'none'

/** How a request differs from a good one. */
export type Wishes = {
  event?: string
  /** Properties that replace those of the payload. */
  payload?: object
  delivery_id?: string
  /** Seconds from now. */
  time_s?: number
  signed?: Signed
}

const definitions = new Map(resources.flatMap(({ events }) => events).map((event) => [event.name, event]))

/** The text of an event, which is marked as a test. */
function textOf(event: string, changes: object): string {
  const definition = definitions.get(event)
  const example = definition ? payloadOfType(definition).example : { event, data: {} }
  return JSON.stringify({
    ...example,
    id: newId('evt'),
    timestamp: isoTime(systemClock.now()),
    webhook_id: 'wh_verification',
    test: true,
    ...changes,
  })
}

/** Makes requests as a webhook sends them, signed with a secret. */
export const samplesOf =
  (secret: string) =>
  ({
    event = 'deal.won',
    payload = {},
    delivery_id = newId('dlv'),
    time_s = 0,
    signed = 'both',
  }: Wishes = {}): Sent => {
    const body = textOf(event, payload)
    const timestamp = Math.floor(systemClock.now() / 1000) + time_s
    const good = signatureHeaders({ secrets: [secret], delivery_id, timestamp, body })
    const wrong = signatureHeaders({ secrets: [`not ${secret}`], delivery_id, timestamp, body })
    return {
      body,
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Event': event,
        'X-Service-Delivery': delivery_id,
        ...good,
        ...(signed !== 'both' && signed !== 'service' && pick(wrong, 'X-Service-Signature')),
        ...(signed !== 'both' && signed !== 'standard' && pick(wrong, 'webhook-signature')),
      },
    }
  }

const pick = (headers: Record<string, string>, name: string) => ({ [name]: headers[name] ?? '' })

/** The same request without its signatures. */
export function unsigned({ body, headers }: Sent): Sent {
  const left = Object.entries(headers).filter(([name]) => !/signature/i.test(name))
  return { body, headers: Object.fromEntries(left) }
}

/** The same request with signatures that end before their last characters. */
export function cut({ body, headers }: Sent): Sent {
  const shorter = Object.entries(headers).map(([name, value]) => [
    name,
    /signature/i.test(name) ? value.slice(0, -6) : value,
  ])
  return { body, headers: Object.fromEntries(shorter) }
}

/** The same request with a body that somebody changed on its way. */
export const changed = ({ body, headers }: Sent): Sent => ({
  body: body.replace('"test":true', '"test":null'),
  headers,
})
