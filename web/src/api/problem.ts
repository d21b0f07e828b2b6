/** The numbers and names in the message of a conflict. */
export type Facts = Record<string, string | number>

export type FieldProblem = { field: string; code: string; message: string }

/** An error of the API. Status 0: there was no answer. */
export class Problem extends Error {
  status: number
  code: string
  request_id: string | null
  fields: FieldProblem[]
  /** With conflict: which one. */
  reason: string | null
  facts: Facts
  retry_after_s: number
  /** The record that a merged one was merged into. */
  merged_into_id: number | null
  /** A write with If-Match was refused. Other refusals with 412 mean that the session is in another place. */
  conditional: boolean
  constructor(status: number, code: string, message: string, request_id: string | null = null) {
    super(message)
    this.status = status
    this.code = code
    this.request_id = request_id
    this.fields = []
    this.reason = null
    this.facts = {}
    this.retry_after_s = 0
    this.merged_into_id = null
    this.conditional = false
  }
}

/** The service has no such record, or no longer. */
export const isGone = (error: unknown): error is Problem => error instanceof Problem && error.status === 404
