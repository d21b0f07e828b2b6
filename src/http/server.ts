import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createHttpServer, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type {} from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawServerDefault,
} from 'fastify'
import { boundAnswers } from './answers.ts'
import { max_body_bytes, parseBodies } from './body.ts'
import { trustedBy } from './client-address.ts'
import { cutStalledReaders, inTurn, write_timeout_ms } from './connections.ts'
import { ApiError, badRequest, errorBody, publicError } from './errors.ts'
import { refuseManyParameters } from './query-names.ts'
import { refuseUnknownQuery, validatorCompiler } from './validation.ts'

/** The Fastify instance with our validators, parsers and error answers, but no routes. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

// Unique in this process and unlikely to meet another's: the process's start and a counter.
const process_part = Math.floor(performance.timeOrigin).toString(36)
let requests = 0
const nextRequestId = () => `req_${process_part}${(requests++).toString(36).padStart(5, '0')}`

type ServerOptions = {
  request_ms?: number
  write_ms?: number
  /** Bytes of all large answers on their way. */
  max_bytes_at_once?: number
  trusted_proxies?: string[]
}

/**
 * Builds the bare server. Every failure it can meet, its own included, is answered in the envelope. A client that needs
 * longer than `request_ms` to send its request is cut off, and one that takes nothing of its answer for `write_ms`. Only
 * proxies of the trusted networks (CIDRs) are believed when they tell a visitor's address.
 */
export function createServer(
  logger: (FastifyBaseLogger & { isLevelEnabled?(level: string): boolean }) | undefined,
  {
    request_ms = 30_000,
    write_ms = write_timeout_ms,
    max_bytes_at_once,
    trusted_proxies = [],
  }: ServerOptions = {},
): App {
  const app: App = Fastify({
    ...(logger
      ? { loggerInstance: logger.child({}, { serializers: { req: loggedRequest } }) }
      : { logger: false }),
    // Of routes that are open to all; the gate gives others more.
    bodyLimit: max_body_bytes.without_key,
    trustProxy: trusted_proxies.length > 0 && trustedBy(trusted_proxies),
    // Called for each address: the name localhost has two.
    serverFactory: (handler) => listener(inTurn(handler), request_ms, write_ms),
    clientErrorHandler: () => {},
    genReqId: nextRequestId,
    // A logger for each request costs more than most requests do; ours name the request where they log.
    ...(!logger?.isLevelEnabled?.('info') && { childLoggerFactory: (parent: FastifyBaseLogger) => parent }),
    requestIdHeader: false,
    // While stopping we answer 503 ourselves, in the envelope.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      const known = publicError(error) ?? badRequest('The request is not valid.')
      reply.header('x-request-id', request.id)
      for (const answer of answers.get(app) ?? [])
        if (answer(known, request as FastifyRequest, reply as FastifyReply)) return
      sendError(reply as never, known, request.id)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(validatorCompiler as never)
  parseBodies(app as never)
  boundAnswers(app, max_bytes_at_once)
  const refuseUnknown = unknownPaths(app)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    const { headers } = request
    if (headers.host === undefined && request.raw.httpVersion === '1.1')
      throw badRequest('The Host header is missing.')
    refuseManyParameters(request.url)
    if (invalidUtf8(request.url)) throw badRequest('The query is not valid UTF-8.')
    // Before the body is read: no body makes the path or the method right.
    if (request.is404) refuseUnknown(request)
    // What says that it is text but is nothing at all is harmless.
    const empty = headers['transfer-encoding'] === undefined && !Number(headers['content-length'])
    if (empty && headers['content-type'] !== undefined) delete headers['content-type']
    done()
  })
  app.addHook('preValidation', refuseUnknownQuery)
  app.setErrorHandler((error, request, reply) => {
    const answer =
      publicError(error) ??
      new ApiError('internal_error', 'Something went wrong here. The request id finds it in the log.')
    if (answer.statusCode >= 500) {
      const level = answer.statusCode === 500 ? 'error' : 'warn'
      request.log[level]({ err: error, request_id: request.id }, 'request failed')
    }
    sendError(reply as never, answer, request.id)
  })
  app.setNotFoundHandler(refuseUnknown)
  return app
}

type PathAnswer = (error: ApiError, request: FastifyRequest, reply: FastifyReply) => boolean
const answers = new WeakMap<App, PathAnswer[]>()

/** Lets a room answer in its own way what no route can have, such as a path that is no URL; true when it did. */
export function answerBadPaths(app: App, answer: PathAnswer): void {
  answers.set(app, [...(answers.get(app) ?? []), answer])
}

// Whoever has the address of a visitor's private link may use it. Their routes are not logged; other methods, other paths
// with the same token in them, however it is written, and redirections are, and stand here without it.
const loggedRequest = ({ method, url, host, ip, socket }: FastifyRequest) => ({
  method,
  url: url.replaceAll(/((?:\/|%2f)(?:a|%61)(?:\/|%2f))[^/?&]{43,}/gi, '$1…'),
  ...{ host, remoteAddress: ip, remotePort: socket?.remotePort },
})

/** Whether the escapes of an address or a form are no UTF-8. Whole ones only: a lone % is a plain character. */
export function invalidUtf8(url: string): boolean {
  if (!url.includes('%')) return false
  try {
    for (const [escapes] of url.matchAll(/(?:%[0-9a-f]{2})+/gi)) decodeURIComponent(escapes)
    return false
  } catch {
    return true
  }
}

const sendError = (reply: FastifyReply, error: ApiError, request_id: string) =>
  reply
    .code(error.statusCode)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error, request_id)))

// A path that exists is 405 for every other method, with what is allowed; a path that does not is 404.
function unknownPaths(app: App) {
  const known = new Map<string, { path: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(
      `^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replaceAll('*', '.*')}$`,
    )
    const entry = known.get(url) ?? { path, methods: new Set() }
    for (const one of [method].flat()) entry.methods.add(one)
    known.set(url, entry)
  })
  const methodsOf = (asked: string) =>
    [...known.values()].flatMap(({ path, methods }) => (path.test(asked) ? [...methods] : []))
  // Somebody who has forgotten the prefix of the API is told where it is.
  const hintOf = (asked: string) => {
    const meant = `/api/v1${asked.replace(/\/$/, '')}`
    return methodsOf(meant).length ? ` Did you mean ${meant.slice(0, 200)}?` : ''
  }
  return ({ url, method }: FastifyRequest): never => {
    // A proxy's request names the whole URL.
    const asked = url.replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*/s, '') || '/'
    const methods = methodsOf(asked)
    // Behind a path for many files, one that is not there.
    if (!methods.length || methods.includes(method))
      throw new ApiError('not_found', `The path ${asked.slice(0, 200)} does not exist.${hintOf(asked)}`)
    const allow = [...new Set(methods)].sort().join(', ')
    throw new ApiError(
      'method_not_allowed',
      `${method} is not possible here, only ${allow}.${hintOf(asked)}`,
      {
        headers: { allow },
      },
    )
  }
}

function listener(handler: RequestListener, request_ms: number, write_ms: number) {
  const server = createHttpServer(
    // Node would refuse a missing Host with an empty body: the first hook does it in the envelope.
    {
      requireHostHeader: false,
      requestTimeout: request_ms,
      headersTimeout: request_ms,
      connectionsCheckingInterval: Math.ceil(request_ms / 6),
      keepAliveTimeout: 65_000,
    },
    handler,
  )
  // An expectation that we do not know is no reason to refuse a request that we can answer (RFC 9110, 10.1.1).
  server.on('checkExpectation', handler)
  server.on('connect', (_request, socket) =>
    refuse(
      socket,
      405,
      new ApiError('method_not_allowed', 'This server is no proxy.', {
        headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' },
      }),
    ),
  )
  server.on('clientError', refuseConnection)
  cutStalledReaders(server, write_ms)
  return server
}

type Answering = { req: IncomingMessage } & ServerResponse

/** Requests that HTTP itself refuses never reach a route; they get the envelope all the same. */
function refuseConnection(error: Error & { code?: string }, socket: Duplex) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  // Behind a whole request on the same connection: its own answer comes first.
  const { _httpMessage: before } = socket as { _httpMessage?: Answering | null }
  if (before?.req.complete && !before.writableEnded)
    return void before.once('finish', () => refuseConnection(error, socket))
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'The headers are larger than 16 KiB.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request took too long to arrive.']
        : [400, 'This is not a valid HTTP request.']
  refuse(socket, Number(status), badRequest(String(message)))
}

function refuse(socket: Duplex, status: number, error: ApiError) {
  const request_id = nextRequestId()
  const body = JSON.stringify(errorBody(error, request_id))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': request_id,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...error.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
}
