import { type ErrorCode, statuses } from '../../errors.ts'
import { any_session } from '../auth.ts'
import { type Operation, open_to_all } from '../operation.ts'

type Parameter =
  | { name: string; in: string; required?: boolean; schema?: { default?: unknown } }
  | { $ref: string }

/** An operation of the document, with the fields that this file reads. */
export type Described = {
  operationId: string
  summary?: string
  description?: string
  parameters?: Parameter[]
  responses: Record<string, { description?: string }>
  'x-extension'?: boolean
  'x-badges'?: { name: string }[]
}

/** `get /api/v1/contacts/:id/notes` becomes get_contacts_id_notes. Generated clients use these names: keep them stable. */
const operationId = (method: string, path: string): string =>
  [method.toLowerCase(), ...(path === '/api/v1' ? ['index'] : path.split('/').slice(3))]
    .join('_')
    .replaceAll(/[:-]/g, (sign) => (sign === '-' ? '_' : ''))

/** The name, the tag and the marks of an operation. The route has its summary and its schemas. */
export function marksOf({ method, path, extension, ...access }: Operation): object {
  return {
    tags: [path.split('/')[3] ?? 'index'],
    operationId: operationId([method].flat()[0] ?? '', path),
    ...(extension && { 'x-extension': true }),
    ...securityOf(access),
  }
}

// The document allows keys and sessions for all operations. Only exceptions are written.
function securityOf({ scope, people_only }: Pick<Operation, 'scope' | 'people_only'>): object {
  if (scope === open_to_all) return { security: [] }
  if (scope === any_session) return { security: [{ session: [] }] }
  return { ...(people_only && { security: [{ session: [] }] }), 'x-scope': scope }
}

// The callers of an operation in words, without the rules that hold for most operations.
function callersOf({ scope, people_only }: Operation): string[] {
  if (scope === open_to_all) return ['Open to all.']
  if (scope === any_session) return ['For people who are signed in, whatever their role.']
  return [`Scope: \`${scope}\`.`, ...(people_only ? ['For people who are signed in.'] : [])]
}

const successes: Record<string, string> = { 200: 'Success.', 201: 'Created. `Location` is its address.' }

/** Adds the callers, the headers and the errors of an operation, by its declaration. */
export function completeOperation(method: string, given: Described, declared: Operation): Described {
  const described = method === 'patch' ? asPatch(given, declared) : given
  const { scope, query, body, conflict, guarded, repeatable } = declared
  const extension = described['x-extension']
  const completed = {
    ...described,
    description: [
      ...(described.description ? [described.description] : []),
      ...(extension ? ['An extension of the base interface.'] : []),
      ...callersOf(declared),
    ].join(' '),
    parameters: [...(described.parameters ?? []).map(optionalWithDefault), ...sharedParameters(declared)],
    responses: {} as Record<string, object>,
  }
  if (extension) completed['x-badges'] = [{ name: 'Extension' }]

  const errors: [ErrorCode, boolean | undefined][] = [
    ['bad_request', true],
    ['unauthorized', scope !== open_to_all || declared.signs_in],
    ['forbidden', true],
    ['not_found', declared.params !== undefined],
    ['conflict', repeatable || conflict],
    ['precondition_failed', guarded],
    ['payload_too_large', body !== undefined],
    ['unsupported_media_type', body !== undefined],
    ['validation_failed', (query ?? body) !== undefined],
    ['rate_limited', true],
    ['internal_error', true],
    ['unavailable', true],
  ]
  for (const [code, met] of errors)
    if (met) completed.responses[statuses[code]] = { $ref: `#/components/responses/${code}` }
  if (declared.conditional) completed.responses[304] = { $ref: '#/components/responses/not_modified' }
  // A description in the declaration replaces the default.
  for (const [status, response] of Object.entries(described.responses))
    completed.responses[status] =
      response.description === 'Default Response' ? { ...response, description: successes[status] } : response
  return completed as Described
}

// One declaration serves PUT and PATCH. The base interface has PUT only.
const asPatch = (described: Described, { path, summary }: Operation): Described => ({
  ...described,
  operationId: operationId('patch', path),
  summary: `${summary} (the same as PUT)`,
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
  return Object.entries(names).flatMap(([name, taken]) =>
    taken ? [{ $ref: `#/components/parameters/${name}` }] : [],
  )
}

// A parameter with a default is required in the schema, because the handler always finds it. Callers may leave it out.
const optionalWithDefault = (parameter: Parameter): Parameter =>
  'in' in parameter && parameter.schema?.default !== undefined ? { ...parameter, required: false } : parameter
