import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import secureJson from 'secure-json-parse'
import { ApiError, badRequest } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body, for comparing repeated requests. */
    raw_body: Buffer | null
  }
}

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
      request.raw_body = bytes
      const value = parse(bytes.toString('utf8'))
      if (deeperThan(value, deepest)) throw badRequest(`The JSON is nested deeper than ${deepest} levels.`)
      // Fastify takes null for no body; it is a body, and no object.
      return value ?? []
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

function parse(text: string): unknown {
  try {
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message}.`)
  }
}

const deeperThan = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => deeperThan(inner, levels - 1)))
