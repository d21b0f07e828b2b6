import { api_version, type EventDefinition, event_sources, exampleChanges } from '../../events/define.ts'
import { pascal } from './names.ts'
import { refTo } from './parts.ts'

const header = (name: string, description: string, required = true) => ({
  name,
  in: 'header',
  description,
  required,
  schema: { type: 'string' },
})

// The same for every event (contract: webhooks and delivery).
const headers = [
  header('X-Service-Event', 'The event name.'),
  header('X-Service-Delivery', 'Id of the delivery, the same on its retries and resends.'),
  header('X-Service-Signature', '`sha256=` and the HMAC-SHA256 of the raw body with the secret, in hex.'),
  header(
    'X-Service-Signature-Next',
    'While a rotation of the secret overlaps: the signature with the new one.',
    false,
  ),
  header('webhook-id', 'Standard Webhooks: id of the delivery.'),
  header('webhook-timestamp', 'Standard Webhooks: seconds since 1970.'),
  header('webhook-signature', 'Standard Webhooks: `v1,` signatures, separated by blanks.'),
]

const componentOf = (name: string) => `${pascal(name.replace('.', '_'))}Event`

/** Any event, by its name. */
export function eventUnion(catalogue: readonly EventDefinition[]) {
  const refs = catalogue.map(({ name }) => [name, refTo('schemas', componentOf(name)).$ref] as const)
  return {
    description: 'An event as the feed has it. Webhooks also get `webhook_id`.',
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'event', mapping: Object.fromEntries(refs) },
  }
}

/** The properties of an event of a merge, beside the required ones. */
function mergeProperties(name: string): Record<string, unknown> {
  const id = { type: 'integer', 'x-extension': true }
  if (name.endsWith('.updated'))
    return {
      merged_from_ids: {
        type: 'array',
        items: id,
        description: 'After a merge into this record: the records that went to the trash.',
      },
    }
  if (!name.endsWith('.deleted')) return {}
  return { merged_into_id: { ...id, description: 'After a merge: the record that survived.' } }
}

/** The properties of an event of a booking whose page adds its links, beside the required ones. */
function linkProperties(name: string): Record<string, unknown> {
  if (!/^appointment\.(created|updated|cancelled)$/.test(name)) return {}
  const link = (act: string) => ({
    type: ['string', 'null'],
    description: `With \`links_in_events\` of the booking page: where the booking can be ${act}; null if it cannot. Other appointments do not have it.`,
    ...extension,
  })
  return { cancel_url: link('cancelled'), reschedule_url: link('moved') }
}

const extension = { 'x-extension': true }

// Few events have them.
const rare = {
  erased_at: {
    type: 'string',
    format: 'date-time',
    description:
      'Only after an erasure. In events of the erased record, every key of `data` but `id` is null, and `changed_fields` and `previous` are absent. In events of other records, the name of the contact and the words of a visitor are null.',
    ...extension,
  },
  test: {
    type: 'boolean',
    const: true,
    description: 'Only in a test: the event is an example, and did not happen.',
    ...extension,
  },
}

/** The order of an event among those of its workspace. */
export const sequence = {
  type: 'integer',
  description:
    'Grows in the order of the commits of the workspace. Of two events about a record, the one with the larger number is newer.',
  ...extension,
}

/** Where an event comes from, at the top level of its payload. */
export const origin = {
  actor: {
    type: 'object',
    required: ['kind', 'id', 'name'],
    properties: {
      kind: { type: 'string', enum: ['person', 'key', 'visitor', 'service'] },
      id: { type: ['string', 'null'], description: 'The id of the person or the key.' },
      name: { type: ['string', 'null'] },
    },
    description: 'Who made the change. A receiver that writes to the API skips its own key here.',
    ...extension,
  },
  source: {
    type: 'string',
    enum: event_sources,
    description: 'The way of the change.',
    ...extension,
  },
  api_version: { type: 'string', description: "The version of the payload's form.", ...extension },
}

/** The schema of `data` after an erasure of the record. */
function erasedData({ data, fields }: EventDefinition) {
  const { title } = data as { title?: string }
  return {
    ...(title && { title: `Erased${title}` }),
    type: 'object',
    required: fields,
    properties: Object.fromEntries(
      fields.map((field) => [field, { type: field === 'id' ? 'integer' : 'null' }]),
    ),
    description: 'After an erasure of the record: only the id is left.',
    ...extension,
  }
}

/** The payload of an event: its schema, and an example. Webhooks also get `webhook_id`; the feed leaves it out. */
export function payloadOfType(definition: EventDefinition) {
  const { name, data, example } = definition
  const properties: Record<string, unknown> = {
    id: { type: 'string', description: 'The id of the event.' },
    // Some generators tell events apart by the const, others by the enum.
    event: { type: 'string', const: name, enum: [name] },
    timestamp: { type: 'string', format: 'date-time', description: 'The time of the change.' },
    sequence,
    webhook_id: { type: 'string', description: 'The id of the webhook. The feed leaves it out.' },
    data: { anyOf: [data, erasedData(definition)] },
  }
  const body: Record<string, unknown> = {
    id: 'evt_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b',
    event: name,
    timestamp: '2026-11-21T08:30:00.000Z',
    sequence: 1204,
    webhook_id: 'wh_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b',
    data: example,
  }
  const required = [
    ...Object.keys(properties).filter((field) => field !== 'webhook_id'),
    ...Object.keys(origin),
  ]
  if (name.endsWith('.updated')) {
    properties.changed_fields = {
      type: 'array',
      items: { type: 'string' },
      description: 'Top-level fields that changed. Absent after an erasure.',
    }
    properties.previous = {
      type: 'object',
      additionalProperties: true,
      description: 'The old values of these fields. Absent after an erasure.',
    }
    Object.assign(body, exampleChanges(example))
  }
  Object.assign(properties, origin)
  Object.assign(body, {
    actor: { kind: 'key', id: 'key_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b', name: 'Website form' },
    source: 'api',
    api_version,
  })
  Object.assign(properties, mergeProperties(name), linkProperties(name), rare)
  return { schema: { type: 'object', required, properties }, example: body }
}

/** An event of the catalogue as an entry in `webhooks` of the document: the request that a webhook receives. */
export function describeEvent(definition: EventDefinition) {
  const { name, summary } = definition
  const { schema, example } = payloadOfType(definition)
  const { webhook_id: _, ...in_feed } = example
  return {
    post: {
      summary: name,
      description: summary,
      operationId: `on${pascal(name.replace('.', '_'))}`,
      tags: ['events'],
      security: [],
      parameters: headers,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { title: componentOf(name), ...schema, examples: [in_feed] },
            example,
          },
        },
      },
      responses: {
        '2XX': { description: 'Received. Any other answer, or a timeout, causes a retry.' },
      },
    },
  }
}
