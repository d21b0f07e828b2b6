import { type ErrorCode, statuses } from '../errors.ts'

type Parameter =
  | { name: string; in: string; required?: boolean; schema?: { default?: unknown } }
  | { $ref: string }

/** An operation of the document, as far as it is looked at here. */
export type Operation = {
  operationId: string
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: object
  responses: Record<string, { description?: string }>
  'x-extension'?: boolean
  'x-scope'?: string
  /** Whether another record may be in its way. */
  'x-conflict'?: boolean
  /** Whether its list can be filtered by custom fields. */
  'x-custom-fields'?: boolean
  /** Whether it takes an Idempotency-Key. */
  'x-repeatable'?: boolean
  /** Open to all, and lets in whoever shows a right password. */
  'x-signs-in'?: boolean
  security?: { session?: unknown }[]
  'x-badges'?: { name: string }[]
}

/** `get /api/v1/contacts/:id/notes` becomes get_contacts_id_notes: stable names for generated clients. */
export const operationId = (method: string, url: string): string =>
  [method.toLowerCase(), ...url.split('/').slice(3)]
    .join('_')
    .replaceAll(/[:{}-]/g, (sign) => (sign === '-' ? '_' : ''))

const successes: Record<string, string> = { 200: 'Success.', 201: 'Created. `Location` is its address.' }

/** Adds what the rules of the service give to every operation: its errors, the headers it understands, its marks. */
export function completeOperation(method: string, path: string, given: Operation): Operation {
  const {
    'x-custom-fields': by_custom_fields,
    'x-conflict': meets_others,
    'x-repeatable': repeatable,
    'x-signs-in': signs_in,
    ...described
  } = given
  const operation = method === 'patch' ? asPatch(path, described) : described
  const record = path.includes('{')
  const scope = operation['x-scope']
  const open = operation.security?.length === 0
  const people = `For people who are signed in${scope ? '.' : ', whatever their role.'}`
  const marks = [
    operation.description,
    operation['x-extension'] && 'An extension of the base interface.',
    scope && `Scope: \`${scope}\`.`,
    operation.security && (open ? 'Open to all.' : people),
  ]
  const completed = {
    ...operation,
    description: marks.filter(Boolean).join(' '),
    parameters: [
      ...(operation.parameters ?? []).map(optionalWithDefault),
      ...(by_custom_fields ? [{ $ref: '#/components/parameters/custom_fields' }] : []),
      ...headers(method, path, operation, repeatable),
    ],
    responses: {} as Record<string, object>,
  }
  if (operation['x-extension']) completed['x-badges'] = [{ name: 'Extension' }]

  const named = operation.parameters?.some((parameter) => 'in' in parameter && parameter.in === 'query')
  const takes = operation.requestBody !== undefined
  const replaces = guarded(method, path, operation)
  const errors: [ErrorCode, boolean | undefined][] = [
    ['bad_request', true],
    ['unauthorized', !open || signs_in],
    ['forbidden', true],
    ['not_found', record],
    ['conflict', repeatable || meets_others],
    ['precondition_failed', replaces],
    ['payload_too_large', takes],
    ['unsupported_media_type', takes],
    ['validation_failed', named || takes],
    ['rate_limited', true],
    ['internal_error', true],
    ['unavailable', true],
  ]
  for (const [code, met] of errors)
    if (met) completed.responses[statuses[code]] = { $ref: `#/components/responses/${code}` }
  if (readsOne(method, path)) completed.responses[304] = { $ref: '#/components/responses/not_modified' }
  // What a route says about its answers itself counts.
  for (const [status, response] of Object.entries(operation.responses))
    completed.responses[status] =
      response.description === 'Default Response' ? { ...response, description: successes[status] } : response
  return completed as Operation
}

// One route serves both, and so both got the same description; the base interface knows PUT only.
const asPatch = (path: string, operation: Operation): Operation => ({
  ...operation,
  operationId: operationId('patch', path),
  summary: `${operation.summary} (the same as PUT)`,
  'x-extension': true,
})

// What there is one of, for whoever asks.
const own = ['/session', '/profile', '/workspace']
const readsOne = (method: string, path: string) =>
  method === 'get' && (path.endsWith('}') || own.some((name) => path.endsWith(name)))

// Whether the operation changes an existing record, and so obeys If-Match.
const guarded = (method: string, path: string, operation: Operation) =>
  (path.includes('{') ? method !== 'get' : ['put', 'patch', 'delete'].includes(method)) &&
  !('201' in operation.responses)

function headers(method: string, path: string, operation: Operation, repeatable = false): Parameter[] {
  const names = []
  if (repeatable) names.push('idempotency_key')
  if (guarded(method, path, operation)) names.push('if_match')
  if (readsOne(method, path)) names.push('if_none_match')
  if (path.endsWith('/stream')) names.push('last_event_id')
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

// The schemas of queries list what has a default as always there: true for the handler, not for who asks.
const optionalWithDefault = (parameter: Parameter): Parameter =>
  'in' in parameter && parameter.schema?.default !== undefined ? { ...parameter, required: false } : parameter
