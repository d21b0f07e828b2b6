import type { IncomingMessage, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type {} from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type RawServerDefault,
} from 'fastify'
import { parseBodies } from './body.ts'
import { ApiError, badRequest, errorBody, notFound, publicError } from './errors.ts'
import { validatorCompiler } from './validation.ts'

/** The Fastify instance with our validators, parsers and error answers, but no routes. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

const mebibyte = 1024 * 1024
// Unique in this process and unlikely to meet another's: the process's start and a counter.
const process_part = Math.floor(performance.timeOrigin).toString(36)
let requests = 0
const nextRequestId = () => `req_${process_part}${(requests++).toString(36).padStart(5, '0')}`

/** Builds the bare server. Every failure it can meet, its own included, is answered in the envelope. */
export function createServer(logger: FastifyBaseLogger | undefined): App {
  const app: App = Fastify({
    ...(logger ? { loggerInstance: logger } : { logger: false }),
    bodyLimit: mebibyte,
    // A client that sends its request slower than this is cut off.
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    genReqId: nextRequestId,
    requestIdHeader: false,
    // While stopping we answer 503 ourselves, in the envelope.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      const known = publicError(error) ?? badRequest('The request is not valid.')
      reply.header('x-request-id', request.id)
      sendError(reply as never, known, request.id)
    },
    clientErrorHandler: refuseConnection,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(validatorCompiler as never)
  parseBodies(app as never)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.setErrorHandler((error, request, reply) => {
    const known = publicError(error)
    if (!known) request.log.error({ err: error, request_id: request.id }, 'request failed')
    const answer =
      known ??
      new ApiError('internal_error', 'Something went wrong here. The request id finds it in the log.')
    sendError(reply as never, answer, request.id)
  })
  app.setNotFoundHandler((request) => {
    throw notFound(`The path ${request.url.split('?')[0]?.slice(0, 200)}`)
  })
  refuseOtherMethods(app)
  return app
}

const sendError = (reply: FastifyReply, error: ApiError, request_id: string) =>
  reply
    .code(error.statusCode)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error, request_id)))

// A known path with another method is 405 with what is allowed: each path gets a route for all the other methods.
function refuseOtherMethods(app: App) {
  const allowed = new Map<string, Set<string>>()
  app.addHook('onRoute', (route) => {
    const methods = allowed.get(route.url) ?? new Set<string>()
    for (const method of [route.method].flat()) methods.add(method)
    allowed.set(route.url, methods)
  })
  app.decorate('refuseOtherMethods', () => {
    for (const [url, methods] of [...allowed]) {
      if (url.includes('*')) continue
      const allow = [...methods].sort().join(', ')
      const others = app.supportedMethods.filter((method) => !methods.has(method))
      app.route({
        method: others,
        url,
        schema: { hide: true },
        exposeHeadRoute: false,
        // Before the body is read: no body makes the method right.
        onRequest: async (request) => {
          throw new ApiError('method_not_allowed', `${request.method} is not possible here, only ${allow}.`, {
            headers: { allow },
          })
        },
        handler: async () => {},
      })
    }
  })
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Call after the last route: answers every other method of each path with 405. */
    refuseOtherMethods(): void
  }
}

/** Requests that HTTP itself refuses never reach a route; they get the envelope all the same. */
function refuseConnection(error: Error & { code?: string }, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'The headers are larger than 16 KiB.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request took too long to arrive.']
        : [400, 'This is not a valid HTTP request.']
  const request_id = nextRequestId()
  const body = JSON.stringify(errorBody(badRequest(String(message)), request_id))
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[Number(status)]}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${request_id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
