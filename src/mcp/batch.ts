import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { max_answer_bytes } from '../http/answers.ts'

// Only one revision of the protocol has batches: arrays of messages. Its clients do not have to name it.
const batch_revision = '2025-03-26'
const max_messages = 100

/** Why an array of messages is refused as a whole; null if it is not. */
export function batchProblem({ headers }: FastifyRequest, messages: readonly unknown[]): string | null {
  const revision = headers['mcp-protocol-version'] ?? batch_revision
  if (revision !== batch_revision) return `Revision ${revision} has no batches. Send each message by itself.`
  if (!messages.length) return 'The batch is empty. Send at least one message.'
  if (messages.length > max_messages) return `Send at most ${max_messages} messages in a batch.`
  // The SDK would serve all messages of such an array, and the rate limit would count one.
  if (messages.some(Array.isArray)) return 'A message of a batch is an array. Send all messages in one array.'
  if (messages.some(isInitialize)) return 'Send initialize by itself, not in a batch.'
  return null
}

/** Whether a message begins a session of the older protocol. */
export const isInitialize = (message: unknown): boolean =>
  (message as { method?: string } | null)?.method === 'initialize'

/** Sends the answers to the messages of a batch as one stream of events. */
export async function answerBatch<M>(
  reply: FastifyReply,
  messages: readonly M[],
  serve: (message: M) => Promise<Response>,
): Promise<FastifyReply> {
  const answers = answersOf(messages, serve)
  const first = await answers.next()
  // All of them are notifications.
  if (first.done) return reply.code(202).send('')
  const all = async function* () {
    yield first.value
    yield* answers
  }
  reply.type('text/event-stream').header('cache-control', 'no-cache, no-transform')
  return reply.send(Readable.from(all()))
}

// Serves a message when the client has taken the answers before, and gives other requests a turn in between.
async function* answersOf<M>(
  messages: readonly M[],
  serve: (message: M) => Promise<Response>,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0
  for (const message of messages) {
    const answer = bytes < max_answer_bytes ? await serve(message) : notServed(message)
    const is_stream = answer.headers.get('content-type') === 'text/event-stream'
    for await (const part of (is_stream ? answer : asEvent(await answer.text())).body ?? []) {
      bytes += part.length
      yield part
    }
    await turn()
  }
}

// Errors of the protocol come without a stream, and notifications have no answer.
const asEvent = (json: string) => new Response(json && `event: message\ndata: ${json}\n\n`)

function notServed(message: unknown): Response {
  const { id } = (message ?? {}) as { id?: unknown }
  const text = 'The answers to the messages before are too long. Send this message in another request.'
  return id === undefined ? new Response() : Response.json(protocolError(codes.server_error, text, id))
}

/** Codes of JSON-RPC 2.0. */
export const codes = { parse_error: -32700, invalid_request: -32600, server_error: -32000 }

/** The answer to a message that is not served; without an id, to a body that has none. */
export const protocolError = (code: number, message: string, id: unknown = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
