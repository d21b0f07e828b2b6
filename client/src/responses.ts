/** The parts of an answer beside its body. */
export type Answered = {
  status: number
  headers: Headers
  etag: string | null
  request_id: string | null
  /** True: the stored answer of an earlier request with the same Idempotency-Key. */
  replayed: boolean
}

const answers = new WeakMap<object, Answered>()

/** Keeps the headers of an answer as long as its result is in use. */
export function remember(result: unknown, { status, headers }: Response): void {
  if (typeof result !== 'object' || result === null) return
  answers.set(result, {
    status,
    headers,
    etag: headers.get('etag'),
    request_id: headers.get('x-request-id'),
    replayed: headers.get('idempotency-replayed') === 'true',
  })
}

/** The status and the headers of the answer that a record or a page came with. */
export function responseOf(result: object): Answered {
  const answer = answers.get(result)
  if (!answer)
    throw new TypeError('Only results of the client have a response, and copies of them have none.')
  return answer
}

/** The ETag of a record that the client returned. */
export function etagOf(record: object): string {
  const { etag } = responseOf(record)
  if (!etag) throw new TypeError('This answer has no ETag. Read the record with get.')
  return etag
}
