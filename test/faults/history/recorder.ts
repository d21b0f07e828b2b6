import { setTimeout as pause } from 'node:timers/promises'
import { client } from '../../harness.ts'
import type { History, Json, Operation } from './history.ts'

/** Milliseconds of a monotonic clock, for all times of a history. */
export const now_ms = () => performance.now()

type Request = {
  client: number
  what: string
  resource: Operation['resource']
  method: string
  path: string
  id?: number | string
  body?: Json
  mark?: string
  idempotency_key?: string
}

// No request may take so long; one that does counts as one whose answer was lost.
const patience_ms = 20_000

/** Sends requests to a running process, and records requests and answers. */
export function createRecorder(urls: () => string[], key: () => string, limit = Infinity) {
  const operations: Operation[] = []

  async function send(request: Request): Promise<Operation> {
    const { method, path, body, mark = null, idempotency_key = null, id = null } = request
    const operation: Operation = {
      number: operations.length,
      client: request.client,
      what: request.what,
      resource: request.resource,
      id,
      body: body ?? null,
      mark,
      idempotency_key,
      sent_ms: now_ms(),
      answered_ms: null,
      status: null,
      retry_after: false,
      data: null,
    }
    operations.push(operation)
    const url = await anyUrl(urls, operation.number)
    operation.sent_ms = now_ms()
    const headers: Record<string, string> = idempotency_key ? { 'idempotency-key': idempotency_key } : {}
    const late = Promise.withResolvers<null>()
    const timer = setTimeout(() => late.resolve(null), patience_ms)
    const asked = client(url, key())(method, `/api/v1${path}`, body, headers).catch(() => null)
    const reply = await Promise.race([asked, late.promise])
    clearTimeout(timer)
    if (!reply) return operation
    operation.answered_ms = now_ms()
    operation.status = reply.status
    operation.retry_after = Number(reply.headers.get('retry-after')) >= 1
    operation.data = reply.body?.data ?? null
    return operation
  }
  return {
    operations,
    send,
    isFull: () => operations.length >= limit,
  }
}
// While all processes are down, no request is possible.
async function anyUrl(urls: () => string[], number: number): Promise<string> {
  for (;;) {
    const all = urls()
    const url = all[number % all.length]
    if (url) return url
    await pause(10)
  }
}

export type Recorder = ReturnType<typeof createRecorder>

/** Whether the service has said that it did it. */
export const isDone = ({ status }: Operation) => status !== null && status < 300

/** Whether it may have been done without a success: the answer was lost, or the database was unavailable. */
export const isUnknown = ({ status }: Operation) => status === null || status === 503

export type Shared = History['shared']
