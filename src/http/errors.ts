import { constraintOf, troubleOf, Unreachable } from '../db/errors.ts'
import { ApiError, badRequest, conflict, NotJson, notFound, unavailable } from '../errors.ts'

/** The JSON body of an error answer. */
export function errorBody(error: ApiError, request_id: string) {
  return {
    success: false,
    error: {
      code: error.code,
      message: error.message,
      request_id,
      ...(error.reason && { reason: error.reason }),
      ...(error.facts && { facts: error.facts }),
      ...(error.fields && { fields: error.fields }),
      ...(error.merged_into_id !== undefined && { merged_into_id: error.merged_into_id }),
    },
  }
}

/** The message of the limits in body.ts. */
export const too_large =
  'The body is larger than 1 MiB, or than 8 MiB for a batch, or than 16 KiB where no key is needed. Send less at once.'

// Maps errors of Fastify to errors of the contract.
const framework: Record<string, () => ApiError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('payload_too_large', too_large),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ApiError('unsupported_media_type', 'Send the body as JSON, with "Content-Type: application/json".'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badRequest('The body is not as long as its Content-Length says.'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new NotJson('The body is not valid JSON.'),
  FST_ERR_BAD_URL: () => badRequest('The path is not a valid URL.'),
  FST_ERR_MAX_PARAM_LENGTH: () => notFound('This path'),
}

// Messages for violated constraints, by the name of the constraint.
const refusals: Record<string, () => ApiError> = {
  appointments_overlap: () =>
    conflict(
      'appointments_overlap',
      'This time is taken on the booking page: another appointment overlaps it.',
    ),
  booking_pages_slug: () => conflict('slug_taken', 'Another booking page has this slug.'),
}

/** Maps an error to a public error; null for an internal error, which is logged and answered with 500. */
export function publicError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  const known = code && framework[code]
  if (known) return known()
  const refusal = refusals[constraintOf(error) ?? '']
  if (refusal) return refusal()
  // A commit without an answer may have succeeded.
  if (error instanceof Unreachable)
    return unavailable(
      'The database cannot be reached. Repeat the request. Send a POST with the same Idempotency-Key again.',
    )
  if (troubleOf(error)) return unavailable('The database cannot do this now. Nothing was changed. Try again.')
  if (statusCode && statusCode >= 400 && statusCode < 500) return badRequest('The request is not valid.')
  return null
}
