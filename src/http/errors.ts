import { constraintOf, troubleOf, Unreachable } from '../db/errors.ts'

export type FieldProblem = { field: string; code: string; message: string }

/** The public error codes with their status (contract: envelope and errors). */
export const statuses = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof statuses

/** An error answer. Code below a handler throws it; the error handler writes the envelope. */
export class ApiError extends Error {
  // Not readonly: Fastify sets both again on errors of its validation.
  code: ErrorCode
  statusCode: number
  readonly fields: FieldProblem[] | undefined
  readonly headers: Record<string, string>
  constructor(
    code: ErrorCode,
    message: string,
    more: { fields?: FieldProblem[]; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.code = code
    this.statusCode = statuses[code]
    this.fields = more.fields
    this.headers = more.headers ?? {}
  }
}

export const badRequest = (message: string) => new ApiError('bad_request', message)
export const forbidden = (message: string) => new ApiError('forbidden', message)
export const conflict = (message: string) => new ApiError('conflict', message)
export const notFound = (what: string) => new ApiError('not_found', `${what} does not exist.`)
/** The record that was found; 404 without one. */
export function orNotFound<R>(noun: string, record: R | null): R {
  if (!record) throw notFound(`This ${noun}`)
  return record
}
/** One answer for all reasons, so that it does not reveal which keys and sessions exist. */
export const unauthorized = () =>
  new ApiError('unauthorized', 'Sign in, or send a valid API key as "Authorization: Bearer <API_KEY>".', {
    headers: { 'www-authenticate': 'Bearer' },
  })
export const unavailable = (message: string, retry_after_seconds = 5) =>
  new ApiError('unavailable', message, { headers: { 'retry-after': String(retry_after_seconds) } })

/** The maximum number of problems in an answer. Validation stops at this number. */
export const max_problems = 1000

/** 422 with every failing field, up to 1,000. It reports only the first problem of each field. */
export function invalid(problems: readonly FieldProblem[]): ApiError {
  const of_fields = new Map<string, FieldProblem>()
  for (const problem of problems) {
    if (of_fields.size === max_problems) break
    if (!of_fields.has(problem.field)) of_fields.set(problem.field, problem)
  }
  const { size } = of_fields
  const count = size === 1 ? '1 field is' : `${size} fields are`
  const message =
    size < max_problems
      ? `${count} not valid.`
      : `At least ${count} not valid. The first ${max_problems} are listed.`
  return new ApiError('validation_failed', message, { fields: [...of_fields.values()] })
}

/** The JSON body of an error answer. */
export function errorBody(error: ApiError, request_id: string) {
  return {
    success: false,
    error: {
      code: error.code,
      message: error.message,
      request_id,
      ...(error.fields && { fields: error.fields }),
    },
  }
}

/** The message of the limits in body.ts. */
export const too_large =
  'The body is larger than 1 MiB, or than 16 KiB where no key is needed. Send less at once.'

// Maps errors of Fastify to errors of the contract.
const framework: Record<string, () => ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('payload_too_large', too_large),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ApiError('unsupported_media_type', 'Send the body as JSON, with "Content-Type: application/json".'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badRequest('The body is not as long as its Content-Length says.'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => badRequest('The body is not valid JSON.'),
  FST_ERR_BAD_URL: () => badRequest('The path is not a valid URL.'),
  FST_ERR_MAX_PARAM_LENGTH: () => notFound('This path'),
}

// Messages for violated constraints, by the name of the constraint.
const refusals: Record<string, string> = {
  appointments_overlap: 'This time is taken on the booking page: another appointment overlaps it.',
  booking_pages_slug: 'Another booking page has this slug.',
}

/** Runs the work. If it violates the constraint, throws 422 with the field's problem. */
export async function mapConstraintError<T>(
  constraint: string,
  problem: FieldProblem,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw constraintOf(error) === constraint ? invalid([problem]) : error
  }
}

/** Maps an error to a public error; null for an internal error, which is logged and answered with 500. */
export function publicError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  const known = code && framework[code]
  if (known) return known()
  const refusal = refusals[constraintOf(error) ?? '']
  if (refusal) return conflict(refusal)
  // A commit without an answer may have succeeded.
  if (error instanceof Unreachable)
    return unavailable(
      'The database cannot be reached. Repeat the request. Send a POST with the same Idempotency-Key again.',
    )
  if (troubleOf(error)) return unavailable('The database cannot do this now. Nothing was changed; try again.')
  if (statusCode && statusCode >= 400 && statusCode < 500) return badRequest('The request is not valid.')
  return null
}
