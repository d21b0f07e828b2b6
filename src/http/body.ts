import { isUtf8 } from 'node:buffer'
import { EventEmitter } from 'node:events'
import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest, preParsingHookHandler } from 'fastify'
import secureJson from 'secure-json-parse'
import { ApiError, badRequest, type FieldProblem, invalid, NotJson } from '../errors.ts'
import { askForBody } from './connections.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body, to compare repeated requests. */
    raw_body: Buffer | null
  }
}

/** The maximum bytes of a body, with and without a key or session (contract: keys, limits, safety). Else 413. */
export const max_body_bytes = { with_key: 1024 * 1024, without_key: 16 * 1024, batch: 8 * 1024 * 1024 }

/** Parses bodies, which must be JSON in UTF-8. Prototype keys are refused. An empty body counts as no body. */
export function parseBodies(app: FastifyInstance): void {
  app.decorateRequest('raw_body', null)
  app.removeAllContentTypeParsers()
  // A hook of the whole server would also run for each GET.
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' && route.method !== 'HEAD') route.preParsing = awaitBody
  })
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      if (!bytes.length) return undefined
      refuseOtherForms(request.headers)
      if (!isUtf8(bytes)) throw new NotJson('The body is not valid UTF-8.')
      refuseExcess(bytes, maxParts(request.routeOptions.bodyLimit))
      const is_large = bytes.length > max_body_bytes.with_key
      if (is_large) await turn()
      request.raw_body = bytes
      // Fastify treats null as no body. Return an array, which is refused because it is not an object.
      const body = parse(bytes.toString('utf8')) ?? []
      // Its check takes as long.
      if (is_large) await turn()
      return body
    },
  )
}

const awaitBody: preParsingHookHandler = ({ headers, routeOptions }, reply, payload, done) => {
  const length = Number(headers['content-length'])
  // A longer one is refused by its length.
  if (!isJson(headers) || !(length > routeOptions.bodyLimit)) askForBody(reply.raw)
  // The parts of a short body need little memory. A chunked body has no length.
  const is_short = length <= max_body_bytes.without_key
  done(null, isJson(headers) && !is_short ? joinParts(payload as Readable) : payload)
}

const isJson = (headers: FastifyRequest['headers']) =>
  /^application\/json\b/i.test(headers['content-type'] ?? '')

const joined_bytes = 4096

/** Joins the small parts of a body. Fastify keeps each part until the last one, and a part of one byte costs 400 bytes. */
function joinParts(body: Readable): Readable {
  // Fastify calls only these methods of a stream.
  const joined = Object.assign(new EventEmitter(), { resume: () => void body.resume() })
  let parts = Buffer.allocUnsafe(joined_bytes)
  let filled = 0
  const pass = () => {
    if (!filled) return
    joined.emit('data', parts.subarray(0, filled))
    parts = Buffer.allocUnsafe(joined_bytes)
    filled = 0
  }
  body.on('data', (part: Buffer) => {
    if (filled + part.length > joined_bytes) pass()
    if (part.length < joined_bytes) filled += part.copy(parts, filled)
    else joined.emit('data', part)
  })
  body.on('end', () => {
    pass()
    joined.emit('end')
  })
  // Fastify no longer listens to a body that it has refused.
  body.on('error', (error) => void (joined.listenerCount('error') && joined.emit('error', error)))
  return joined as unknown as Readable
}

function refuseOtherForms(headers: FastifyRequest['headers']): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  const [, charset = 'utf-8'] = /charset="?([^";\s]+)/i.exec(headers['content-type'] ?? '') ?? []
  if (encoding.toLowerCase() === 'identity' && /^utf-?8$/i.test(charset)) return
  throw new ApiError('unsupported_media_type', 'Send the body as JSON in UTF-8, without a content encoding.')
}

const max_depth = 64
// Names and values together: three times those of a booking page with separate hours on 1,000 days.
const max_parts = 50_000

// A longer body may have more of them.
const maxParts = (bytes = 0): number => max_parts * Math.max(1, Math.floor(bytes / max_body_bytes.with_key))

const tooMany = (most: number): FieldProblem => ({
  field: 'body',
  code: 'too_many',
  message: `body must have at most ${most} names and values. Send it in several requests.`,
})

const [quote, backslash, comma, colon, open_list, close_list, open_object, close_object] =
  Buffer.from('"\\,:[]{}')

/** Refuses, before parsing, a body that would block the event loop, such as half a million empty lists. */
function refuseExcess(bytes: Buffer, most: number): void {
  let depth = 0
  let parts = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at)
    else if (byte === comma || byte === colon) parts++
    else if (byte === close_list || byte === close_object) depth--
    else if (byte === open_list || byte === open_object) {
      parts++
      if (++depth > max_depth) throw badRequest(`The JSON is nested deeper than ${max_depth} levels.`)
    }
  }
  if (parts > most) throw invalid([tooMany(most)])
}

function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

// The parser's message for such a name.
const forbidden_name = 'Object contains forbidden prototype property'

function parse(text: string): unknown {
  try {
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const { message } = error as Error
    if (message === forbidden_name)
      throw badRequest('The body uses the reserved name __proto__, or constructor with prototype. Rename it.')
    throw new NotJson(`The body is not valid JSON: ${message}.`)
  }
}
