import { Problem, type Schemas } from '../api/client.ts'
import type { Condition } from './condition-text.ts'
import type { Subscribed } from './event-groups.ts'

/** An own header in the form. `kept`: the stored value of this name stays. */
export type Header = { name: string; value: string; kept: boolean }

/** The values of the form of a webhook. */
export type WebhookValues = {
  name: string
  url: string
  events: Subscribed[]
  headers: Header[]
  conditions: Condition[]
  retry_delays: number[] | null
  timeout_ms: number | null
  max_per_second: number | null
  ordered: boolean
  format: 'envelope' | 'slack' | 'teams'
}
type Webhook = Schemas['Webhook']
type Body = Schemas['WebhookUpdate']

/** The fields whose parts show own errors. */
export const nested_fields = ['headers', 'conditions', 'events', 'retry_delays']

export const new_webhook: WebhookValues = {
  name: '',
  url: '',
  events: ['*'],
  headers: [],
  conditions: [],
  retry_delays: null,
  timeout_ms: null,
  max_per_second: null,
  ordered: false,
  format: 'envelope',
}

// The service shows it in place of a value, and takes it as "the stored value".
const hidden = '***'

/** The form's values of a stored webhook. */
export function valuesOf(webhook: Webhook): WebhookValues {
  const { name, url, events, headers, conditions, retry_delays, timeout_ms, max_per_second } = webhook
  return {
    name: name ?? '',
    url,
    retry_delays,
    timeout_ms,
    max_per_second,
    events: events as Subscribed[],
    headers: Object.keys(headers ?? {}).map((name) => ({ name, value: '', kept: true })),
    conditions: (conditions ?? []) as Condition[],
    ordered: webhook.ordered ?? false,
    format: webhook.format ?? 'envelope',
  }
}

/** The body of a request with these values. */
export function bodyOf({ headers, ...rest }: Partial<WebhookValues>): Body {
  if (!headers) return rest as Body
  const entries = headers.map(({ name, value, kept }) => [name.trim(), kept ? hidden : value] as const)
  refuseRepeated(entries.map(([name]) => name))
  return { ...rest, headers: Object.fromEntries(entries) } as Body
}

// One of two equal names would get lost on the way to the service.
function refuseRepeated(names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated === undefined) return
  const message = `headers.${repeated} is listed twice.`
  const problem = new Problem(422, 'validation_failed', message)
  problem.fields = [{ field: `headers.${repeated}`, code: 'duplicate', message }]
  throw problem
}
