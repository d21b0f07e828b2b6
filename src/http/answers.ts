import type { FastifyReply, FastifyRequest } from 'fastify'
import { subscriberOf } from './client-address.ts'
import { unavailable } from './errors.ts'
import type { App } from './server.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** No answer is larger (contract: budgets). A list that could be ends early, or leaves long fields to the single read. */
export const max_answer_bytes = 8 * mebibyte

/** A page that may end early ends after about so many bytes: a larger one would hold the event loop for too long. */
export const page_bytes = 2 * mebibyte

// Larger answers count together, from before their rows are read until the last byte has left the process.
const counted_from = 64 * kibibyte
export const max_bytes_at_once = 64 * mebibyte
// Of one caller, so that its slow readers do not refuse the answers of others.
const max_of_a_caller = 16 * mebibyte

/** A list that comes all at once may have so many bytes of stored texts: as JSON they are somewhat longer. */
export const all_at_once_bytes = 7 * mebibyte

/** How many of the first records an answer has room for, as JSON; the first one in any case. */
export function countFitting(records: readonly object[], max_bytes = all_at_once_bytes): number {
  let bytes = 0
  const too_many = records.findIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1
    return bytes > max_bytes
  })
  return too_many < 0 ? records.length : Math.max(1, too_many)
}

declare module 'fastify' {
  interface FastifyReply {
    reserved_bytes: number
    /** Counts a large answer before its rows are read. Throws 503 when too many are on their way. */
    reserve(bytes: number): void
  }
}

/** Bounds the bytes of large answers of this process that are being made or sent: of each one, of a caller, and of all. */
export function boundAnswers(app: App, most = max_bytes_at_once): void {
  let on_the_way = 0
  const of_callers = new Map<string, number>()

  function count(caller: string, bytes: number): void {
    on_the_way += bytes
    const of_caller = (of_callers.get(caller) ?? 0) + bytes
    if (of_caller) of_callers.set(caller, of_caller)
    else of_callers.delete(caller)
  }

  function reserve(reply: FastifyReply, bytes: number): void {
    const { raw, request, reserved_bytes } = reply
    const more = bytes - reserved_bytes
    // Nobody waits for the answer of a connection that is closed, and nothing would give its bytes back.
    if (bytes < counted_from || more <= 0 || raw.closed) return
    const caller = callerOf(request)
    if ((of_callers.get(caller) ?? 0) + more > max_of_a_caller)
      throw unavailable('Too many of your large answers are on their way. Read them, then ask again.', 1)
    if (on_the_way + more > most)
      throw unavailable('Too many large answers are on their way. Ask again in a second.', 1)
    if (!reserved_bytes) raw.once('close', () => count(caller, -reply.reserved_bytes))
    count(caller, more)
    reply.reserved_bytes = bytes
  }

  app.decorateReply('reserved_bytes', 0)
  app.decorateReply('reserve', function (bytes) {
    reserve(this, bytes)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length < counted_from) return done(null, payload)
    // As bytes it takes no room in the heap while it waits to be sent.
    const bytes = Buffer.from(payload)
    try {
      if (bytes.length > max_answer_bytes) throw tooLarge(request, bytes.length)
      // What a write has done is done: its answer is sent in any case.
      if (request.method === 'GET' || request.method === 'HEAD') reserve(reply, bytes.length)
    } catch (error) {
      return done(error as Error)
    }
    done(null, bytes)
  })
}

// A route that is open to all has no access.
const callerOf = ({ access, ip, socket }: FastifyRequest): string =>
  access?.id ?? subscriberOf(ip, socket.remoteAddress)

const tooLarge = ({ method, url }: FastifyRequest, bytes: number) =>
  new Error(`The answer of ${method} ${url.slice(0, 200)} has ${bytes} bytes, more than ${max_answer_bytes}.`)
