export type FieldProblem = { field: string; code: string; message: string }

type Facts = {
  fields?: FieldProblem[] | undefined
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
  /** Finds the request in the log of the service. */
  readonly request_id: string | null
  /** The seconds that the service asks to wait. */
  readonly retry_after_s: number | null

  constructor(status: number, code: string, message: string, facts: Facts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'RapportError'
    this.status = status
    this.code = code
    this.fields = facts.fields ?? []
    this.request_id = facts.request_id ?? null
    this.retry_after_s = facts.retry_after_s ?? null
  }
}

/** The error of an answer that is not a success. */
export async function errorOf(response: Response): Promise<RapportError> {
  const { status, headers } = response
  const text = await response.text().catch(() => '')
  const { code, message, fields, request_id } = readError(text)
  const asked = Number(headers.get('retry-after') ?? Number.NaN)
  return new RapportError(
    status,
    code ?? `http_${status}`,
    message ?? `The answer has the status ${status}.`,
    {
      fields,
      request_id: request_id ?? headers.get('x-request-id'),
      retry_after_s: Number.isFinite(asked) ? asked : null,
    },
  )
}

// A proxy may answer with a page of its own.
function readError(text: string): Partial<RapportError> {
  try {
    return (JSON.parse(text) as { error?: Partial<RapportError> }).error ?? {}
  } catch {
    return {}
  }
}
