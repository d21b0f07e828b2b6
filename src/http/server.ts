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
  type FastifyServerOptions,
  type RawServerDefault,
} from 'fastify'
import { ApiError, badRequest } from '../errors.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import { boundAnswers } from './answers.ts'
import { max_body_bytes, parseBodies } from './body.ts'
import { trustedBy } from './client-address.ts'
import { compressForPeople } from './compression.ts'
import {
  awaitWish,
  cutStalledReaders,
  endsUnread,
  endUnwantedBodies,
  inTurn,
  mayTakeLong,
  write_timeout_ms,
} from './connections.ts'
import { allowOrigins } from './cors.ts'
import { errorBody, publicError } from './errors.ts'
import { refuseManyParameters } from './query-names.ts'
import { countHandlers } from './running-handlers.ts'
import { lazySerializers } from './serializers.ts'
import { traceIdOf } from './trace.ts'
import { traceRequests } from './traced-requests.ts'
import { refuseUnknownQuery, validatorCompiler } from './validation.ts'

/** The Fastify instance with Rapport's validators, parsers and error answers, but without routes. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

// The start time of the process and a counter: unique in this process, and unlikely to repeat in another one.
const process_part = Math.floor(performance.timeOrigin).toString(36)
let requests = 0
const nextRequestId = () => `req_${process_part}${(requests++).toString(36).padStart(5, '0')}`

type ServerOptions = {
  request_ms?: number
  write_ms?: number
  /** The limit of bytes of all large answers that are being made or sent. */
  max_bytes_at_once?: number
  trusted_proxies?: string[]
  /** Origins whose pages may call the API; `*` for all. */
  cors_origins?: string[]
  /** Makes a span of each request; null without a collector. */
  tracer?: Tracer | null | undefined
}

/**
 * Builds the server without routes. Every error is answered in the envelope. A client may take at most `request_ms` to
 * send its request, and `write_ms` without reading its answer. Then it is disconnected. Only proxies of the trusted
 * networks (CIDRs) may set a visitor's address.
 */
export function createServer(
  logger: (FastifyBaseLogger & { isLevelEnabled?(level: string): boolean }) | undefined,
  {
    request_ms = 30_000,
    write_ms = write_timeout_ms,
    max_bytes_at_once,
    trusted_proxies = [],
    cors_origins = [],
    tracer,
  }: ServerOptions = {},
): App {
  const allowOrigin = allowOrigins(cors_origins)
  const spans = tracer && traceRequests(tracer)
  const app: App = Fastify({
    ...(logger
      ? { loggerInstance: logger.child({}, { serializers: { req: loggedRequest } }) }
      : { logger: false }),
    // The limit of open routes. The gate raises it for others.
    bodyLimit: max_body_bytes.without_key,
    schemaController: { compilersFactory: { buildSerializer: lazySerializers } },
    trustProxy: trusted_proxies.length > 0 && trustedBy(trusted_proxies),
    // Fastify calls it for each address: localhost has two.
    serverFactory: (handler) => listener(answering(spans?.begin(handler) ?? handler), request_ms, write_ms),
    clientErrorHandler: () => {},
    genReqId: nextRequestId,
    // A logger for each request costs more than most requests. Log calls pass the request id instead.
    childLoggerFactory: logger?.isLevelEnabled?.('info') ? tracedLogger : (parent) => parent,
    requestIdHeader: false,
    // During a stop, Rapport answers 503 itself, in the envelope.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      allowOrigin(request as never, reply as never)
      answerBadPath(app, error, request as never, reply as never)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(validatorCompiler as never)
  parseBodies(app as never)
  boundAnswers(app, max_bytes_at_once)
  compressForPeople(app)
  countHandlers(app)
  const { isUnknown, refuseUnknown } = unknownPaths(app)
  app.addHook('onRequest', (request, reply, done) => {
    spans?.route(request)
    reply.header('x-request-id', request.id)
    // Before any refusal: a browser reads an error only with these headers.
    if (allowOrigin(request, reply)) return
    checkHead(request)
    // Refuse unknown paths and methods before the body is read.
    if (isUnknown(request)) refuseUnknown(request)
    ignoreTypeOfEmptyBody(request)
    done()
  })
  app.addHook('preValidation', refuseUnknownQuery)
  app.setErrorHandler((error, request, reply) => answerError(error, request as never, reply as never))
  app.setNotFoundHandler(refuseUnknown)
  return app
}

const answering = (handler: RequestListener) => inTurn(endUnwantedBodies(handler))

function checkHead({ url, headers, raw }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion === '1.1') throw badRequest('The Host header is missing.')
  refuseManyParameters(url)
  if (invalidUtf8(url)) throw badRequest('The query is not valid UTF-8.')
}

function ignoreTypeOfEmptyBody({ headers }: FastifyRequest): void {
  const empty = headers['transfer-encoding'] === undefined && !Number(headers['content-length'])
  if (empty && headers['content-type'] !== undefined) delete headers['content-type']
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const answer =
    publicError(error) ??
    new ApiError('internal_error', 'Something went wrong here. The request id finds it in the log.')
  if (answer.statusCode >= 500) logFailure(error, request, answer.statusCode)
  sendError(reply, answer, request.id)
}

/** Logs the error of a request that is answered with a 5xx status. */
export function logFailure(err: unknown, request: FastifyRequest, status: number): void {
  const level = status === 500 ? 'error' : 'warn'
  const { log, server, headers, id: request_id } = request
  // A logger of the request itself already has the trace id.
  const trace_id = log === server.log ? traceIdOf(headers) : undefined
  // The stack of a refusal tells nothing, and /readyz is often asked during a start.
  const is_refusal = status !== 500 && err instanceof ApiError
  const failure = is_refusal ? { message: err.message, err: err.cause } : { err }
  log[level]({ ...failure, request_id, trace_id }, 'request failed')
}

type PathAnswer = (error: ApiError, request: FastifyRequest, reply: FastifyReply) => boolean
const answers = new WeakMap<App, PathAnswer[]>()

/** Registers a function that may answer paths that reach no route, such as an invalid URL. It returns true if it did. */
export function answerBadPaths(app: App, answer: PathAnswer): void {
  answers.set(app, [...(answers.get(app) ?? []), answer])
}

function answerBadPath(app: App, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = publicError(error) ?? badRequest('The request is not valid.')
  reply.header('x-request-id', request.id)
  const answered = answers.get(app)?.some((answer) => answer(known, request, reply))
  if (!answered) sendError(reply, known, request.id)
}

const tracedLogger: FastifyServerOptions['childLoggerFactory'] = (parent, bindings, options, { headers }) => {
  const trace_id = traceIdOf(headers)
  return parent.child(trace_id ? { ...bindings, trace_id } : bindings, options)
}

// A visitor's private link gives access to anybody who has it. Its routes are not logged. Other requests with the token in
// the path (other methods, other spellings, redirects) are logged, so replace the token here.
const loggedRequest = ({ method, url, host, ip, socket }: FastifyRequest) => ({
  method,
  url: url.replaceAll(/((?:\/|%2f)(?:a|%61)(?:\/|%2f))[^/?&]{43,}/gi, '$1…'),
  host,
  remoteAddress: ip,
  remotePort: socket?.remotePort,
})

/** Whether the escapes of a URL or a form are not valid UTF-8. A % without two hex digits is a plain character. */
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

/** Matches the paths of a route. */
const pathPattern = (url: string) =>
  new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+').replaceAll('*', '.*')}$`)

/** The path of a request. A request through a proxy may have the whole URL. */
const pathOf = (url: string) => {
  const local = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')
  const query = local.indexOf('?')
  return (query < 0 ? local : local.slice(0, query)) || '/'
}

// An unknown path is 404. A known path is 405 for other methods, with the allowed ones. A path such as /contacts/batch
// has only its own methods: the router would take `batch` for the id of a contact.
function unknownPaths(app: App) {
  const known = new Map<string, { path: RegExp | null; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const entry = known.get(url) ?? { path: null, methods: new Set() }
    for (const name of [method].flat()) entry.methods.add(name)
    known.set(url, entry)
  })
  const methodsOf = (requested: string) => {
    const own = known.get(requested)
    if (own) return [...own.methods]
    return [...known].flatMap(([url, entry]) => {
      // Made for the first unknown path, because a start should not wait for it.
      entry.path ??= pathPattern(url)
      return entry.path.test(requested) ? [...entry.methods] : []
    })
  }
  // Suggest the path with the prefix of the API.
  const hintOf = (requested: string) => {
    const suggestion = `/api/v1${requested.replace(/\/$/, '')}`
    return methodsOf(suggestion).length ? ` Did you mean ${suggestion.slice(0, 200)}?` : ''
  }
  const isUnknown = ({ url, method, is404 }: FastifyRequest) => {
    const own = known.get(pathOf(url))
    return is404 || (own !== undefined && !own.methods.has(method))
  }
  const refuseUnknown = ({ url, method }: FastifyRequest): never => {
    const requested = pathOf(url)
    const methods = methodsOf(requested)
    const hint = hintOf(requested)
    // The method is allowed when a wildcard path for files matches, but the file does not exist.
    if (!methods.length || methods.includes(method))
      throw new ApiError('not_found', `The path ${requested.slice(0, 200)} does not exist.${hint}`)
    const allow = [...new Set(methods)].sort().join(', ')
    const message = `${method} is not possible here, only ${allow}.${hint}`
    throw new ApiError('method_not_allowed', message, { headers: { allow } })
  }
  return { isUnknown, refuseUnknown }
}

function listener(handler: RequestListener, request_ms: number, write_ms: number) {
  const server = createHttpServer(
    // Node would answer a missing Host without a body. The first hook answers it in the envelope.
    {
      requireHostHeader: false,
      requestTimeout: request_ms,
      headersTimeout: request_ms,
      connectionsCheckingInterval: Math.ceil(request_ms / 6),
      keepAliveTimeout: 65_000,
      // Without it, Node reads each request without a body to its end, by the events of a stream.
      optimizeEmptyRequests: true,
    },
    handler,
  )
  awaitWish(server, handler)
  // Ignore an unknown expectation (RFC 9110, 10.1.1).
  server.on('checkExpectation', handler)
  server.on('connect', (_request, socket) =>
    refuse(
      socket,
      405,
      new ApiError('method_not_allowed', 'This server is not a proxy.', {
        headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' },
      }),
    ),
  )
  server.on('clientError', refuseConnection)
  cutStalledReaders(server, write_ms)
  return server
}

type Answering = { req: IncomingMessage } & ServerResponse

/** Answers requests that are not valid HTTP, which reach no route, in the envelope. */
function refuseConnection(error: Error & { code?: string }, socket: Duplex) {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && mayTakeLong(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable || endsUnread(socket)) return void socket.destroy()
  // An earlier request on the same connection must be answered first.
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
