import swagger from '@fastify/swagger'
import type { TSchema } from 'typebox'
import type { EventDefinition } from '../events/define.ts'
import { statuses } from './errors.ts'
import type { App } from './server.ts'

const ErrorSchema = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { type: 'string', enum: Object.keys(statuses) },
        message: { type: 'string' },
        request_id: {
          type: 'string',
          description: 'Also in the header X-Request-Id; finds the line in the log.',
        },
        fields: {
          type: 'array',
          description: 'With validation_failed: every failing field.',
          items: {
            type: 'object',
            required: ['field', 'code', 'message'],
            properties: { field: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
    },
  },
}

/** Collects the routes that follow into the OpenAPI 3.1 document, which app.swagger() returns. */
export async function describeApi(
  app: App,
  events: readonly EventDefinition[],
  version: string,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Rapport',
        version,
        description:
          'Contacts, companies, deals and webhooks. Operations marked `x-extension` go beyond the base interface.',
        license: { name: 'MIT', identifier: 'MIT' } as never,
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key, crm_…' } },
        schemas: { Error: ErrorSchema as never },
      },
      security: [{ key: [] }],
      webhooks: Object.fromEntries(events.map((event) => [event.name, describeEvent(event)])) as never,
    },
    transform: ({ schema, url, route }) => ({
      url,
      schema: describeRoute(schema as never, url, route as never) as never,
    }),
  })
}

type RouteSchema = Record<string, unknown> & { response?: Record<string, unknown>; hide?: boolean }
type Route = { method: string | string[]; config?: { scope?: string } }

// What every route can answer besides its success: written once, for all of them.
function describeRoute(schema: RouteSchema | undefined, url: string, route: Route): RouteSchema {
  if (!schema || schema.hide || !url.startsWith('/api/v1')) return { ...schema, hide: true }
  const methods = [route.method].flat()
  const { scope = '' } = route.config ?? {}
  const writes = methods.some((method) => !['GET', 'HEAD'].includes(method))
  const error = (description: string) => ({
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  })
  const errors: Record<string, unknown> = {
    401: error('No valid key'),
    403: error(`The key lacks the scope ${scope}`),
  }
  if (url.includes(':')) errors[404] = error('No such record')
  if (schema.body || schema.querystring) errors[422] = error('A field or parameter is not valid')
  if (schema.querystring || schema.body) errors[400] = error('Not valid JSON, or an unknown parameter')
  if (writes) {
    errors[409] = error('Conflict, such as an Idempotency-Key used with another body')
    errors[412] = error('If-Match names another state of the record')
  }
  if (schema.body) {
    errors[413] = error('The body is larger than 1 MiB')
    errors[415] = error('The body is not JSON')
  }
  errors[429] = error('Too many requests; see Retry-After')
  errors[500] = error('A fault of the service')
  errors[503] = error('Not available now; see Retry-After')
  return {
    tags: [url.split('/')[3] as string],
    operationId: operationId(methods[0] as string, url),
    ...schema,
    description: [schema.description, `Scope: \`${scope}\`.`].filter(Boolean).join(' '),
    response: { ...schema.response, ...errors },
  }
}

// get /api/v1/contacts/:id/notes becomes get_contacts_id_notes: stable names for generated clients.
const operationId = (method: string, url: string) =>
  [method.toLowerCase(), ...url.split('/').slice(3)]
    .join('_')
    .replaceAll(/[:-]/g, (sign) => (sign === '-' ? '_' : ''))

function describeEvent({ name, summary, data, example }: EventDefinition) {
  const updates = name.endsWith('.updated')
  const properties: Record<string, unknown> = {
    id: { type: 'string' },
    event: { const: name },
    timestamp: { type: 'string', format: 'date-time' },
    webhook_id: { type: 'string' },
    data: data as TSchema,
  }
  if (updates) {
    properties.changed_fields = { type: 'array', items: { type: 'string' } }
    properties.previous = { type: 'object', additionalProperties: true }
  }
  const header = (about: string) => ({ in: 'header', schema: { type: 'string' }, description: about })
  const body = {
    id: 'evt_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b',
    event: name,
    timestamp: '2026-11-21T08:30:00.000Z',
    webhook_id: 'wh_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b',
    data: example,
    ...(updates && { changed_fields: ['name'], previous: { name: 'An older name' } }),
  }
  return {
    post: {
      summary,
      operationId: `on_${name.replace('.', '_')}`,
      tags: ['events'],
      security: [],
      parameters: [
        { name: 'X-Service-Event', ...header('The event name.') },
        { name: 'X-Service-Delivery', ...header('Id of the delivery, the same on retries and resends.') },
        { name: 'X-Service-Signature', ...header('sha256= and the HMAC-SHA256 of the body in hex.') },
        { name: 'webhook-id', ...header('Standard Webhooks: id of the delivery.') },
        { name: 'webhook-timestamp', ...header('Standard Webhooks: seconds since 1970.') },
        { name: 'webhook-signature', ...header('Standard Webhooks: v1 signatures.') },
      ],
      requestBody: {
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['id', 'event', 'timestamp', 'webhook_id', 'data'],
              properties,
            },
            example: body,
          },
        },
      },
      responses: {
        '2XX': { description: 'Received. Anything else is tried again after 1, 5 and 30 minutes.' },
      },
    },
  }
}
