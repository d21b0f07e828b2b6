import type { FastifyReply, FastifyRequest } from 'fastify'
import { unavailable } from '../errors.ts'
import { subscriberOf } from './client-address.ts'
import type { App } from './server.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** The limit of an answer (contract: budgets). Near it, lists end a page early or leave long fields out. */
export const max_answer_bytes = 8 * mebibyte

/** A page that may end early ends after about this many bytes. A larger page would block the event loop. */
export const page_bytes = 2 * mebibyte

// Larger answers count toward the limits below, from before their rows are read until the last byte is sent.
const counted_from = 64 * kibibyte
export const max_bytes_at_once = 64 * mebibyte
// The limit of one caller, so that its slow clients do not use up the limit of all callers.
const max_of_a_caller = 16 * mebibyte

/** The limit of stored texts in a list without pages. As JSON they are somewhat longer. */
export const all_at_once_bytes = 7 * mebibyte

declare module 'fastify' {
  interface FastifyReply {
    reserved_bytes: number
    /** Reserves the bytes of a large answer before its rows are read. Throws 503 above a limit. */
    reserve(bytes: number): void
  }
}

/** Limits the bytes of large answers that this process makes or sends: of one answer, of a caller, and in total. */
export function boundAnswers(app: App, max_total = max_bytes_at_once): void {
  let reserved = 0
  const of_callers = new Map<string, number>()

  function count(caller: string, bytes: number): void {
    reserved += bytes
    const of_caller = (of_callers.get(caller) ?? 0) + bytes
    if (of_caller) of_callers.set(caller, of_caller)
    else of_callers.delete(caller)
  }

  function reserve(reply: FastifyReply, bytes: number): void {
    const { raw, request, reserved_bytes } = reply
    const more = bytes - reserved_bytes
    // On a closed connection no "close" event would release the bytes.
    if (bytes < counted_from || more <= 0 || raw.closed) return
    const caller = callerOf(request)
    if ((of_callers.get(caller) ?? 0) + more > max_of_a_caller)
      throw unavailable('Too many of your large answers are being sent. Read them, then try again.', 1)
    if (reserved + more > max_total)
      throw unavailable('Too many large answers are being sent. Try again after 1 s.', 1)
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
    // A Buffer is outside of the heap while it waits to be sent.
    const bytes = Buffer.from(payload)
    try {
      if (bytes.length > max_answer_bytes) throw tooLarge(request, bytes.length)
      // A write is already committed, so send its answer regardless of the limits.
      if (request.method === 'GET' || request.method === 'HEAD') reserve(reply, bytes.length)
    } catch (error) {
      return done(error as Error)
    }
    done(null, bytes)
  })
}

// Requests to open routes have no access.
const callerOf = ({ access, ip, socket }: FastifyRequest): string =>
  access?.id ?? subscriberOf(ip, socket.remoteAddress)

const tooLarge = ({ method, url }: FastifyRequest, bytes: number) =>
  new Error(`The answer of ${method} ${url.slice(0, 200)} has ${bytes} bytes, more than ${max_answer_bytes}.`)
