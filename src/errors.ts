export type FieldProblem = { field: string; code: FieldCode | ErrorCode; message: string }

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

/** Why a request conflicts. Clients have a sentence for each in their own language. */
export const conflict_reasons = [
  'appointment_answered',
  'appointments_overlap',
  'backfill_running',
  'backfill_stopping',
  'changed_since',
  'delivery_cancelled',
  'delivery_waits',
  'field_being_checked',
  'field_check_timeout',
  'field_removed',
  'host_busy',
  'import_dry_run',
  'import_ended',
  'import_running',
  'key_of_another_body',
  'last_owner',
  'mail_made_anew',
  'mail_off',
  'mail_pending',
  'member_already',
  'merge_erased',
  'merge_running',
  'merge_taken_back',
  'merge_too_old',
  'merged_again',
  'merged_record',
  'merged_record_deleted',
  'only_owner',
  'other_definition',
  'request_in_flight',
  'request_lapsed',
  'set_up_already',
  'slug_taken',
  'too_many_booking_pages',
  'too_many_busy_calendars',
  'too_many_changes',
  'too_many_fields',
  'too_many_imports',
  'too_many_keys',
  'too_many_notes',
  'too_many_pending',
  'too_many_views',
  'too_many_feeds',
  'too_many_webhooks',
  'too_many_workspaces',
  'unique_value_taken',
  'values_break_definition',
  'webhook_deleted',
  'webhook_paused',
] as const
export type ConflictReason = (typeof conflict_reasons)[number]

/** The numbers and names in the message of a conflict. */
export type Facts = Record<string, string | number>

/** The problems of a field. Clients have a sentence for each in their own language. */
export const field_codes = [
  'ambiguous',
  'before_start',
  'duplicate',
  'invalid',
  'invalid_characters',
  'invalid_cursor',
  'invalid_format',
  'invalid_interval',
  'invalid_type',
  'invalid_url',
  'invalid_value',
  'not_allowed',
  'not_changeable',
  'not_defined',
  'not_unique',
  'not_valid',
  'not_found',
  'other_origin',
  'out_of_range',
  'overlapping_intervals',
  'required',
  'reserved',
  'taken',
  'too_easy',
  'too_few',
  'too_large',
  'too_long',
  'too_many',
  'too_precise',
  'too_short',
  'unknown_field',
  'unknown_time_zone',
  'unknown_value',
  'url_not_allowed',
  'wrong',
] as const
export type FieldCode = (typeof field_codes)[number]

/** An error answer. Code below a handler throws it; the error handler writes the envelope. */
export class ApiError extends Error {
  // Not readonly: Fastify sets both again on errors of its validation.
  code: ErrorCode
  statusCode: number
  readonly fields: FieldProblem[] | undefined
  /** With conflict. */
  readonly reason: ConflictReason | undefined
  readonly facts: Facts | undefined
  readonly headers: Record<string, string>
  /** With not_found: the record into which the record was merged. */
  readonly merged_into_id: number | undefined
  constructor(
    code: ErrorCode,
    message: string,
    more: {
      fields?: FieldProblem[]
      headers?: Record<string, string>
      merged_into_id?: number
      reason?: ConflictReason
      facts?: Facts | undefined
    } = {},
  ) {
    super(message)
    this.code = code
    this.statusCode = statuses[code]
    this.fields = more.fields
    this.reason = more.reason
    this.facts = more.facts
    this.headers = more.headers ?? {}
    this.merged_into_id = more.merged_into_id
  }
}

export const badRequest = (message: string) => new ApiError('bad_request', message)
/** A body that is not JSON. */
export class NotJson extends ApiError {
  constructor(message: string) {
    super('bad_request', message)
  }
}
export const forbidden = (message: string) => new ApiError('forbidden', message)
export const conflict = (reason: ConflictReason, message: string, facts?: Facts) =>
  new ApiError('conflict', message, { reason, facts })
export const notFound = (what: string) => new ApiError('not_found', `${what} does not exist.`)
/** 404 for a record that was merged into another one. */
export const mergedAway = (what: string, merged_into_id: number) =>
  new ApiError('not_found', `${what} was merged into ${merged_into_id}.`, { merged_into_id })
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
/** The answer to a request that a stop ends. */
export const stopped = () => unavailable('The service is stopping. Send the request again.')

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

/** Throws 422 with all problems, if there are any. */
export function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length) throw invalid(problems)
}

/**
 * Throws 409 when a limit is reached. `limit` names it, such as `A workspace has at most 100 webhooks`, and `remedy` says
 * what to do. The caller counts under a lock that every creation and restore takes, so that the limit is exact.
 */
export function refuseMore(
  reason: ConflictReason,
  count: number,
  most: number,
  limit: string,
  remedy: string,
): void {
  if (count >= most) throw conflict(reason, `${limit}. ${remedy}`, { most })
}
