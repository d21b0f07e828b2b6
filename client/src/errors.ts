export type FieldProblem = { field: string; code: string; message: string }

type Details = {
  fields?: FieldProblem[] | undefined
  reason?: string | undefined
  facts?: Record<string, string | number> | undefined
  merged_into_id?: number | undefined
  request_id?: string | null | undefined
  retry_after_s?: number | null | undefined
  cause?: unknown
}

/** An error of the API. Without an answer, the status is 0, and the code is `unreachable` or `timeout`. */
export class RapportError extends Error {
  /** The HTTP status. */
  readonly status: number
  /** Such as `validation_failed`, `not_found`, `rate_limited`. */
  readonly code: string
  /** With `validation_failed`: every failing field. */
  readonly fields: FieldProblem[]
  /** With `conflict`: which one, such as `too_many_keys`. */
  readonly reason: string | null
  /** The numbers and names of the message of a conflict. */
  readonly facts: Readonly<Record<string, string | number>>
  /** With `not_found`: the record into which this one was merged. */
  readonly merged_into_id: number | null
  /** Finds the request in the log of the service. */
  readonly request_id: string | null
  /** The seconds that the service asks to wait. */
  readonly retry_after_s: number | null

  constructor(status: number, code: string, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'RapportError'
    this.status = status
    this.code = code
    this.fields = details.fields ?? []
    this.reason = details.reason ?? null
    this.facts = details.facts ?? {}
    this.merged_into_id = details.merged_into_id ?? null
    this.request_id = details.request_id ?? null
    this.retry_after_s = details.retry_after_s ?? null
  }
}

/** The error of an answer that is not a success. */
export async function errorOf(response: Response): Promise<RapportError> {
  const { status, headers } = response
  const text = await response.text().catch(() => '')
  const { code, message, request_id, ...details } = readError(text)
  const asked = Number(headers.get('retry-after') ?? Number.NaN)
  return new RapportError(
    status,
    code ?? `http_${status}`,
    message ?? `The answer has the status ${status}.`,
    {
      ...details,
      request_id: request_id ?? headers.get('x-request-id'),
      retry_after_s: Number.isFinite(asked) ? asked : null,
    },
  )
}

// A proxy may answer with a page of its own.
function readError(text: string): Details & { code?: string; message?: string } {
  try {
    return (JSON.parse(text) as { error?: Details }).error ?? {}
  } catch {
    return {}
  }
}
