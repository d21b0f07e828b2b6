import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import secureJson from 'secure-json-parse'
import { ApiError, badRequest, invalid } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body, for comparing repeated requests. */
    raw_body: Buffer | null
  }
}

/** Bytes of a body with a key or a session, and of one without (contract: keys, limits, safety); longer ones are 413. */
export const max_body_bytes = { with_key: 1024 * 1024, without_key: 16 * 1024 }

/** Bodies are JSON in UTF-8 and nothing else; prototype keys are refused. An empty body is none. */
export function parseBodies(app: FastifyInstance): void {
  app.decorateRequest('raw_body', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      if (!bytes.length) return undefined
      refuseOtherForms(request.headers)
      if (!isUtf8(bytes)) throw badRequest('The body is not valid UTF-8.')
      refuseExcess(bytes)
      request.raw_body = bytes
      // Fastify takes null for no body; it is a body, and no object.
      return parse(bytes.toString('utf8')) ?? []
    },
  )
}

function refuseOtherForms(headers: FastifyRequest['headers']): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  const [, charset = 'utf-8'] = /charset="?([^";\s]+)/i.exec(headers['content-type'] ?? '') ?? []
  if (encoding.toLowerCase() === 'identity' && /^utf-?8$/i.test(charset)) return
  throw new ApiError('unsupported_media_type', 'Send the body as JSON in UTF-8, without a content encoding.')
}

const deepest = 64
// Names and values: three times what a booking page has with its own hours on each of 1000 days.
const max_parts = 50_000

const too_many = {
  field: 'body',
  code: 'too_many',
  message: `body must have at most ${max_parts} names and values. Send it in several requests.`,
}

const [quote, backslash, comma, colon, open_list, close_list, open_object, close_object] =
  Buffer.from('"\\,:[]{}')

/** Refuses by the bytes alone what would hold other requests up while it is parsed and walked: half a million of [],[]. */
function refuseExcess(bytes: Buffer): void {
  let depth = 0
  let parts = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at)
    else if (byte === comma || byte === colon) parts++
    else if (byte === close_list || byte === close_object) depth--
    else if (byte === open_list || byte === open_object) {
      parts++
      if (++depth > deepest) throw badRequest(`The JSON is nested deeper than ${deepest} levels.`)
    }
  }
  if (parts > max_parts) throw invalid([too_many])
}

function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

function parse(text: string): unknown {
  try {
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message}.`)
  }
}
