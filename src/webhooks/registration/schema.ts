import { type Static, Type } from 'typebox'
import {
  Body,
  IntegerOrNull,
  OptionalText,
  OptionalTimestamp,
  TextOrNull,
  Timestamp,
  Titled,
} from '../../http/fields.ts'
import { options } from './options.ts'

const statuses = ['active', 'failed', 'paused'] as const
export const delivery_statuses = ['pending', 'succeeded', 'failed', 'cancelled'] as const

/** A webhook as GET returns it, without its secret. */
export const Webhook = Titled('Webhook', {
  id: Type.String({ examples: ['wh_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  name: OptionalText(255, { examples: ['Billing'] }),
  url: Type.String({ examples: ['https://billing.example/hooks/crm'] }),
  events: Type.Array(Type.String(), { examples: [['deal.won']] }),
  status: Type.Unsafe<(typeof statuses)[number]>({ type: 'string', enum: statuses }),
  status_reason: OptionalText(1000, { description: 'The reason of the status failed.' }),
  rotation_ends_at: OptionalTimestamp({ description: 'The old secret signs until this time.' }),
  created_at: Timestamp(),
  ...options,
})
export type Webhook = Static<typeof Webhook>

const secret = {
  secret: Type.String({
    description: 'Shown only in this answer.',
    examples: ['whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBsb25nLi4u'],
  }),
}

/** The answer of registration. Only this answer and that of a rotation contain the secret. */
export const WebhookCreated = Titled('WebhookCreated', { ...Webhook.properties, ...secret })
export const WebhookRotated = Titled('WebhookRotated', { ...Webhook.properties, ...secret })

const read_only = Object.keys(Webhook.properties)
const url = Type.String({ minLength: 1, verbatim: true, examples: ['https://billing.example/hooks/crm'] })
const SecretInput = TextOrNull({ verbatim: true })

/** The bodies of registration and update. The event names come from the catalogue. */
export function webhookBodies(event_names: readonly string[]) {
  const groups = new Set(event_names.map((name) => `${name.split('.')[0]}.*`))
  const choices = [...event_names, ...groups, '*']
  const events = Type.Unsafe<string[]>({
    type: 'array',
    minItems: 1,
    maxItems: event_names.length,
    items: { type: 'string', enum: choices },
    description:
      '`deal.*` stands for all events of deals, `*` for all events. Both include those of later versions.',
    examples: [['contact.created', 'deal.won']],
  })
  const fields = { name: OptionalText(255), url, events, ...options }
  return {
    WebhookCreate: Body({ ...fields, secret: SecretInput }, read_only, ['url', 'events']),
    WebhookUpdate: Body(fields, read_only),
    WebhookTest: Body({
      event: TextOrNull({
        enum: [...event_names, null],
        description: 'The event whose example is sent. Null, the default: a ping.',
        examples: ['deal.won'],
      }),
    }),
  }
}

export const RotateSecret = Body({
  secret: SecretInput,
  overlap_hours: Type.Unsafe<number | null>({
    type: ['number', 'null'],
    minimum: 0,
    maximum: 168,
    default: 24,
  }),
})
export const ResendFailed = Body({ since: OptionalTimestamp() })
export const ResendCount = Type.Object({ count: Type.Integer() })

const logged = {
  id: Type.String({
    description: 'Sent as X-Service-Delivery.',
    examples: ['dlv_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'],
  }),
  webhook_id: Type.String({ examples: ['wh_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  event_id: Type.String({ examples: ['evt_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  event: Type.String({ examples: ['deal.won'] }),
  status: Type.Unsafe<(typeof delivery_statuses)[number]>({ type: 'string', enum: delivery_statuses }),
  attempt_count: Type.Integer({ description: 'The number of attempts without interrupted ones.' }),
  next_attempt_at: OptionalTimestamp(),
  created_at: Timestamp(),
  finished_at: OptionalTimestamp(),
  kind: TextOrNull({
    description: 'The kind of the record that the event is about. Null for a ping or an example.',
    examples: ['deals'],
  }),
  record_id: IntegerOrNull({
    description: 'The id of the record.',
    examples: [42],
  }),
}

const detail = <T>(type: 'integer' | 'string', text: string) =>
  Type.Optional(
    Type.Unsafe<T | null>({ type: [type, 'null'], description: `With \`details=true\`: ${text}` }),
  )

/** An entry of the delivery log. */
export const Delivery = Titled('Delivery', {
  ...logged,
  last_duration_ms: detail<number>('integer', 'the duration of the newest attempt. Null before the first.'),
  last_response_status: detail<number>(
    'integer',
    'the status of the newest answer. Null if the newest attempt got none.',
  ),
  title: detail<string>(
    'string',
    'the present title of the record. Null if it is deleted, and for a ping or an example.',
  ),
  last_error_code: detail<string>(
    'string',
    'the error code of the newest attempt. Null if it succeeded, and before the first.',
  ),
})
export type Delivery = Static<typeof Delivery>

const Headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
})
const nullable = <T>(properties: Record<string, unknown>, examples?: unknown[]) =>
  Type.Unsafe<T | null>({
    type: ['object', 'null'],
    properties,
    required: Object.keys(properties),
    ...(examples && { examples }),
  })

export const Attempt = Titled('Attempt', {
  number: Type.Integer(),
  started_at: Timestamp(),
  duration_ms: Type.Integer(),
  request: Type.Object({
    url: Type.String({ examples: ['https://billing.example/hooks/crm'] }),
    headers: Headers,
    body: TextOrNull({
      description:
        'The body, which is the same in every attempt. If all bodies together exceed 1 MiB, only the newest attempt shows it, and the others have null.',
    }),
  }),
  response: nullable<{ status: number; headers: Record<string, string>; body: string }>(
    { status: { type: 'integer' }, headers: Headers, body: { type: 'string' } },
    [{ status: 200, headers: { 'content-length': '0' }, body: '' }],
  ),
  error: nullable<{ code: string; message: string }>(
    { code: { type: 'string' }, message: { type: 'string' } },
    [null],
  ),
})
export type Attempt = Static<typeof Attempt>

export const DeliveryDetail = Titled('DeliveryDetail', {
  ...logged,
  attempts: Type.Array(Attempt, {
    description: 'The newest 100 attempts, or fewer if they exceed 512 KiB. Oldest first.',
  }),
})
export type DeliveryDetail = Static<typeof DeliveryDetail>

export const WebhookParams = Type.Object({ webhook_id: Type.String() })
export const DeliveryParams = Type.Object({ delivery_id: Type.String() })
