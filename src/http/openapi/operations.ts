import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, statuses } from '../../errors.ts'
import { any_session } from '../auth.ts'
import { type Operation, open_to_all } from '../operation.ts'
import { answerName, bodyName, nounOf, operationId } from './names.ts'
import { headersOf, pagination, refTo } from './parts.ts'
import { isObjectSchema, type Schema } from './schemas.ts'

type Parameter =
  | {
      name: string
      in: string
      required?: boolean
      description?: string
      schema?: Schema
      'x-extension'?: boolean
    }
  | { $ref: string }
type Content = Record<string, { schema?: Schema; example?: unknown }>
type Response = { description?: string; headers?: object; content?: Content }

/** An operation of the document, with the fields that this file reads. */
export type Described = {
  operationId: string
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content; required?: boolean }
  responses: Record<string, Response>
  'x-extension'?: boolean
  'x-badges'?: { name: string }[]
}

/** The name, the tag and the marks of an operation. The route has its summary and its schemas. */
export function marksOf(declared: Operation): object {
  const { method, path, extension = true, ...access } = declared
  return {
    tags: [path.split('/')[3] ?? 'index'],
    operationId: operationId([method].flat()[0]?.toLowerCase() ?? '', declared),
    ...(extension && { 'x-extension': true }),
    ...securityOf(access),
  }
}

// The document allows keys and sessions for all operations. Only exceptions are written.
function securityOf({
  scope,
  or_scopes,
  people_only,
}: Pick<Operation, 'scope' | 'or_scopes' | 'people_only'>): object {
  if (scope === open_to_all) return { security: [] }
  if (scope === any_session) return { security: [{ session: [] }] }
  return {
    ...(people_only && { security: [{ session: [] }] }),
    'x-scope': scope,
    ...(or_scopes && { 'x-or-scopes': or_scopes }),
  }
}

// The callers of an operation in words, without the rules that hold for most operations.
function callersOf({ scope, or_scopes = [], people_only }: Operation): string[] {
  if (scope === open_to_all) return ['Open to all.']
  if (scope === any_session) return ['For people who are signed in, whatever their role.']
  const scopes = [scope, ...or_scopes].map((one) => `\`${one}\``).join(' or ')
  return [`Scope: ${scopes}.`, ...(people_only ? ['For people who are signed in.'] : [])]
}

const successes: Record<string, string> = {
  200: 'Success.',
  201: 'Created. `Location` is its address.',
  202: 'Accepted. The work continues after the answer.',
}

/** Adds the callers, the headers and the errors of an operation, by its declaration. */
export function completeOperation(method: string, given: Described, declared: Operation): Described {
  const described = method === 'patch' ? asPatch(given, declared) : given
  const { scope, query, body, conflict, repeatable } = declared
  const extension = described['x-extension']
  const completed = {
    ...described,
    description: [
      ...(described.description ? [described.description] : []),
      ...(extension ? ['An extension of the base interface.'] : []),
      ...callersOf(declared),
    ].join(' '),
    parameters: [
      ...(described.parameters ?? []).map((parameter) => completeParameter(parameter, declared)),
      ...sharedParameters(declared),
    ],
    ...(described.requestBody && { requestBody: completeBody(described.requestBody, declared) }),
    responses: {} as Record<string, object>,
  }
  if (extension) completed['x-badges'] = [{ name: 'Extension' }]

  const errors: [ErrorCode, boolean | undefined][] = [
    ['bad_request', true],
    ['unauthorized', scope !== open_to_all || declared.signs_in],
    ['forbidden', true],
    ['not_found', declared.params !== undefined],
    ['conflict', repeatable || conflict],
    ['precondition_failed', method !== 'get'],
    ['payload_too_large', body !== undefined],
    ['unsupported_media_type', body !== undefined],
    ['validation_failed', (query ?? body) !== undefined],
    ['rate_limited', true],
    ['internal_error', true],
    ['unavailable', true],
  ]
  for (const [code, met] of errors) if (met) completed.responses[statuses[code]] = refTo('responses', code)
  if (declared.conditional) completed.responses[304] = refTo('responses', 'not_modified')
  for (const [status, response] of Object.entries(described.responses))
    completed.responses[status] = completeAnswer(status, response, described.operationId, declared)
  return completed as Described
}

// A description in the declaration replaces the default.
function completeAnswer(status: string, response: Response, id: string, declared: Operation): Response {
  const { content, description, headers } = response
  if (!status.startsWith('2')) return response
  return {
    ...response,
    description: description === 'Default Response' ? successes[status] : description,
    headers: { ...headersOf(status, declared), ...headers },
    ...(content && { content: withSchemas(content, (schema) => namedAnswer(schema, id)) }),
  }
}

const withSchemas = (content: Content, change: (schema: Schema) => Schema): Content =>
  Object.fromEntries(
    Object.entries(content).map(([media, one]) => [
      media,
      { ...one, ...(one.schema && { schema: change(one.schema) }) },
    ]),
  )

const namedAnswer = (schema: Schema, id: string): Schema =>
  isObjectSchema(schema) && schema.properties.success && schema.properties.data
    ? { title: answerName(id.replace(/^patch/, 'update'), schema), ...schema }
    : schema

function completeBody(body: { content: Content }, declared: Operation): Described['requestBody'] {
  const [method = ''] = [declared.method].flat()
  const title = bodyName(operationId(method.toLowerCase(), declared))
  const named = (schema: Schema) => (isObjectSchema(schema) ? { title, ...schema } : schema)
  const { properties, required = [] } = declared.body as Schema & { required?: string[] }
  // A verb without required fields may have no body. A file must be there.
  return {
    ...body,
    required: method !== 'POST' || required.length > 0 || !properties,
    content: withSchemas(body.content, named),
  }
}

// One declaration serves PUT and PATCH. The base interface has PUT only.
const asPatch = (described: Described, declared: Operation): Described => ({
  ...described,
  operationId: operationId('patch', declared),
  summary: `${declared.summary} (the same as PUT)`,
  'x-extension': true,
})

function sharedParameters({ query, repeatable, guarded, conditional, resumable }: Operation): Parameter[] {
  const names = {
    custom_fields: query !== undefined && 'patternProperties' in query,
    idempotency_key: repeatable,
    if_match: guarded,
    if_none_match: conditional,
    last_event_id: resumable,
  }
  return Object.entries(names).flatMap(([name, taken]) => (taken ? [refTo('parameters', name)] : []))
}

function completeParameter(parameter: Parameter, declared: Operation): Parameter {
  if (!('in' in parameter)) return parameter
  const { name, schema, description = parameterText(parameter.name, parameter.in, declared) } = parameter
  // A parameter with a default is required in the schema, because the handler always finds it. Callers may leave it out.
  const required = schema?.default === undefined && parameter.required
  const completed = { ...parameter, required: required === true, description }
  if (isDeepStrictEqual(pagination[name], completed)) return refTo('parameters', name)
  return isAddition(parameter, declared) ? { ...completed, 'x-extension': true } : completed
}

// The filters of the lists of the base interface.
const base_filters: Record<string, readonly string[]> = {
  '/api/v1/contacts': ['search', 'company_id', 'stage'],
  '/api/v1/deals': ['stage', 'contact_id', 'company_id', 'status'],
}

/** Whether a parameter extends an operation of the base interface. The mark of an extension covers its parameters. */
const isAddition = ({ name, in: place }: { name: string; in: string }, { path, extension }: Operation) =>
  place === 'query' && extension === false && !base_filters[path]?.includes(name)

// For a parameter that the declaration does not describe.
function parameterText(name: string, place: string, { path }: Operation): string {
  if (place !== 'path') return `Only records whose \`${name}\` is this.`
  const [owner = ''] = path.split(`/:${name}`)
  const noun = nounOf(owner)
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase()
  return `The id of the ${noun}.`
}
