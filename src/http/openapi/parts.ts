import { isDeepStrictEqual } from 'node:util'
import { conflict_reasons, type ErrorCode, statuses } from '../../errors.ts'
import { too_large } from '../errors.ts'
import { ListQuery } from '../fields.ts'
import { cursor } from '../lists.ts'
import { type Operation, open_to_all } from '../operation.ts'
import type { Schema } from './schemas.ts'

// The parts that operations of the document share, by name.

const FieldProblem = {
  type: 'object',
  required: ['field', 'code', 'message'],
  properties: {
    field: { type: 'string', description: 'The name of the field. A nested field is custom_fields.region.' },
    code: {
      type: 'string',
      examples: ['required', 'invalid_type', 'too_long', 'not_found', 'unknown_field'],
    },
    message: { type: 'string' },
  },
}

/** The body of every error. */
export const ErrorSchema = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { type: 'string', enum: Object.keys(statuses) },
        message: { type: 'string' },
        request_id: {
          type: 'string',
          description: 'Also in the header X-Request-Id, and in the line of the log.',
        },
        fields: {
          type: 'array',
          description: 'With validation_failed: every failing field.',
          items: FieldProblem,
        },
        reason: {
          type: 'string',
          enum: conflict_reasons,
          description: 'With conflict: which one. Later versions may add reasons.',
          'x-extension': true,
        },
        facts: {
          type: 'object',
          additionalProperties: { type: ['string', 'integer'] },
          description: 'With reason: its numbers and names, such as most, count or field.',
          'x-extension': true,
        },
        merged_into_id: {
          type: 'integer',
          description: 'With not_found: the record into which this one was merged.',
          'x-extension': true,
        },
      },
    },
  },
}

type Section = 'schemas' | 'parameters' | 'responses' | 'headers'
/** A reference to a shared part. */
export const refTo = (section: Section, name: string) => ({ $ref: `#/components/${section}/${name}` })

const count = { type: 'integer', minimum: 0 }

/** The headers of answers. */
export const headers: Record<string, object> = {
  'X-Request-Id': {
    description: 'Finds the request in the log of the service.',
    schema: { type: 'string', examples: ['req_mp1x2k00001'] },
  },
  ETag: {
    description: 'The version of the record, for `If-Match` and `If-None-Match`.',
    schema: { type: 'string', examples: ['"2026-11-21T08:30:00.000Z1k9xq3.8c"'] },
  },
  Location: {
    description: 'The path of the new record.',
    schema: { type: 'string', examples: ['/api/v1/contacts/42'] },
  },
  'Idempotency-Replayed': {
    description: 'true: the stored answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  'RateLimit-Limit': { description: 'The requests of a burst.', schema: { ...count, examples: [200] } },
  'RateLimit-Remaining': {
    description: 'The requests that are left of it.',
    schema: { ...count, examples: [199] },
  },
  'RateLimit-Reset': {
    description: 'Seconds until the whole burst is left again.',
    schema: { ...count, examples: [1] },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { ...count, examples: [1] } },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: { type: 'string', const: 'Bearer' },
  },
}

const named = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, refTo('headers', name)]))

const rate_limit = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/** The headers of an answer that is a success. */
export function headersOf(status: string, operation: Operation) {
  const { method, scope, repeatable, guarded, conditional, answers_no_record } = operation
  const answers_write = guarded && method !== 'DELETE' && !answers_no_record
  const shows_record = conditional || status === '201' || answers_write
  return named([
    'X-Request-Id',
    ...(scope === open_to_all ? [] : rate_limit),
    ...(shows_record ? ['ETag'] : []),
    ...(status === '201' ? ['Location'] : []),
    ...(repeatable ? ['Idempotency-Replayed'] : []),
  ])
}

const answers: Record<Exclude<ErrorCode, 'method_not_allowed'>, [string, string, string[]?]> = {
  bad_request: ['Not valid JSON, or an unknown query parameter.', 'The body is not valid JSON.'],
  unauthorized: [
    'No key or session, or an unknown, revoked or expired one. At sign-in: the e-mail or the password is wrong.',
    'Sign in, or send a valid API key as "Authorization: Bearer <API_KEY>".',
    ['WWW-Authenticate'],
  ],
  forbidden: [
    "The key or the role lacks the operation's scope, or a page of another origin sends this.",
    'This key lacks the scope deals:write.',
  ],
  not_found: ['No such record in this workspace.', 'This contact does not exist.'],
  conflict: [
    'The Idempotency-Key was used with another body or with other parameters, or is still in flight, or the record is not in a state for this.',
    'This Idempotency-Key was used with another body or with other parameters. Use a new key for a new request.',
  ],
  precondition_failed: [
    'If-Match does not match the current version of the record.',
    'The record has changed since it was read.',
  ],
  payload_too_large: [
    'The body is larger than 1 MiB, or than 8 MiB for a batch, or than 16 KiB where no key is needed.',
    too_large,
  ],
  unsupported_media_type: [
    'The body is not JSON.',
    'Send the body as JSON, with "Content-Type: application/json".',
  ],
  validation_failed: ['Fields or parameters are not valid; all of them are listed.', '1 field is not valid.'],
  rate_limited: [
    'Too many requests at once, or too many wrong tries.',
    'At most 100 requests a second.',
    ['Retry-After', ...rate_limit],
  ],
  internal_error: [
    'A fault of the service.',
    'Something went wrong here. The request id finds it in the log.',
  ],
  unavailable: ['Starting, stopping, or unable to write now.', 'The service is stopping.', ['Retry-After']],
}

const exampleOf = (code: string, message: string) => ({
  success: false,
  error: {
    code,
    message,
    request_id: 'req_mp1x2k00001',
    ...(code === 'validation_failed' && {
      fields: [{ field: 'name', code: 'required', message: 'name is required.' }],
    }),
  },
})

/** The errors, by their code, and 304. */
export const responses: Record<string, object> = {
  ...Object.fromEntries(
    Object.entries(answers).map(([code, [description, message, more = []]]) => [
      code,
      {
        description,
        headers: named(['X-Request-Id', ...more]),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            example: exampleOf(code, message),
          },
        },
      },
    ]),
  ),
  not_modified: {
    description: 'The record still has the ETag of If-None-Match. No body.',
    headers: named(['X-Request-Id', 'ETag']),
  },
}

const header = (name: string, description: string, schema: object = {}) => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...schema },
})

const paging = ListQuery({ cursor }).properties as unknown as Record<string, Schema>

/** The parameters of lists. */
export const pagination: Record<string, object> = Object.fromEntries(
  Object.entries(paging).map(([name, { description, ...schema }]) => [
    name,
    { schema, in: 'query', name, required: false, description },
  ]),
)

/** The parameters that several operations share. */
export const parameters: Record<string, object> = {
  ...pagination,
  cursor: { ...pagination.cursor, 'x-extension': true },
  idempotency_key: header(
    'Idempotency-Key',
    'Makes the request safe to repeat. For 24 hours, the same key, path, parameters and body get the first answer again, with `Idempotency-Replayed: true`.',
    { minLength: 1, maxLength: 255 },
  ),
  if_match: header(
    'If-Match',
    'The `ETag` of the version that was read. 412 if the record has changed since.',
  ),
  custom_fields: {
    name: 'custom_fields',
    in: 'query',
    description:
      'Records whose custom field has this value, as `custom_fields[region]=EMEA`. Numbers and booleans are written as in JSON. A field that is defined as a number or a date has a range, too: `custom_fields[seats]_from=10` and `custom_fields[seats]_to=50`.',
    style: 'deepObject',
    explode: true,
    schema: { type: 'object', additionalProperties: { type: 'string', maxLength: 4096 } },
    'x-extension': true,
  },
  last_event_id: header(
    'Last-Event-ID',
    'The stream continues after this event. Without it, the stream starts now.',
  ),
  if_none_match: header(
    'If-None-Match',
    'The `ETag` of a known version. 304 if the record has not changed since.',
  ),
}

// The validator has formats of its own. Other programs know these names. The format `email` would promise ASCII.
const formats: Record<string, string> = { day: 'date', email_address: 'idn-email' }

// A keyword of the own validator.
const own_keyword = 'verbatim'

type Json = Record<string, unknown>

/** A node of a schema without the keywords of the own validator, and with formats that other programs know. */
function published({ 'x-values': values, 'x-types': types, ...described }: Json): Json {
  if (described[own_keyword] === true) delete described[own_keyword]
  if (values) return { ...described, additionalProperties: values }
  if (types) return { ...described, ...types }
  const { format } = described
  if (typeof format === 'string') return { ...described, format: formats[format] ?? format }
  return isNullableEnum(described) ? choiceOrNull(described) : described
}

type NullableEnum = Json & { type: string[]; enum: unknown[] }

const isNullableEnum = (described: Json): described is NullableEnum =>
  Array.isArray(described.enum) && described.enum.includes(null)

// Strict generators make code that does not compile of an enum with null.
function choiceOrNull({ type, enum: choices, ...described }: NullableEnum): Json {
  const texts = choices.filter((choice) => choice !== null)
  const [own] = type.filter((name) => name !== 'null')
  return { examples: texts.slice(0, 1), ...described, anyOf: [{ type: own, enum: texts }, { type: 'null' }] }
}

/** A schema for other programs, without the marks of the OpenAPI document, such as `x-extension`. */
export function publishedSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(publishedSchema)
  if (typeof node !== 'object' || node === null) return node
  const described = Object.entries(published(mapped(node, publishedSchema)))
  return Object.fromEntries(described.filter(([name, value]) => value !== true || !name.startsWith('x-')))
}

/** A copy of a node of a schema. Examples are data, even if they look like schemas. */
const mapped = (node: object, map: (value: unknown) => unknown): Json =>
  Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, of_data.has(name) ? value : map(value)]),
  )
const of_data = new Set(['example', 'examples', 'default'])

/**
 * Moves every object schema with a title into the components, and refers to it by this name. So a generated client has
 * one type for it. Throws if two different schemas have the same title.
 */
export function shareSchemas<D extends { components: { schemas: Json } }>(document: D): D {
  const shared: Json = {}

  function share(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(share)
    if (typeof node !== 'object' || node === null) return node
    const copy = published(mapped(node, share))
    if (typeof copy.title !== 'string' || copy.type !== 'object') return copy
    const { title } = copy
    if (title in shared && !isDeepStrictEqual(shared[title], copy))
      throw new TypeError(`Two different schemas have the title ${title}.`)
    shared[title] = copy
    return { $ref: `#/components/schemas/${title}` }
  }

  const result = share(document) as D
  Object.assign(result.components.schemas, shared)
  return result
}
