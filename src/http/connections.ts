import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A client that reads nothing of its answer for this time is disconnected. */
export const write_timeout_ms = 30_000

// A client that pipelines more requests is disconnected.
const max_ahead = 100

/**
 * Answers the requests of a connection one after the other. Node would process all pipelined requests at once, and keep
 * every answer until the client reads. One connection could then hold hundreds of answers in memory.
 */
export function inTurn(handler: RequestListener): RequestListener {
  const ahead = new WeakMap<Socket, number>()
  return (request, response) => {
    // The answer before was the last one of the connection.
    if (endsUnread(request.socket)) return void request.socket.destroy()
    // Node assigns the socket to one answer at a time, in the order of the requests.
    if (response.socket) return handler(request, response)
    const { socket } = request
    const waiting = (ahead.get(socket) ?? 0) + 1
    if (waiting > max_ahead) return void socket.destroy()
    ahead.set(socket, waiting)
    response.once('socket', () => {
      ahead.set(socket, (ahead.get(socket) ?? 1) - 1)
      process.nextTick(handler, request, response)
    })
  }
}

// Node reads at most this number of bytes at once. A longer body that nobody wants ends its connection.
const max_unwanted_bytes = 64 * 1024
// How long a client that still sends has to read its answer. A connection that closes with unread bytes is reset.
const last_read_ms = 5000

const ending = new WeakSet<object>()
/** Whether a connection ends because the body of its request is not wanted. */
export const endsUnread = (socket: object): boolean => ending.has(socket)

/**
 * Ends the connection of a request that is answered before its body has arrived, such as one that is refused. Node would
 * read any body to its end.
 */
export function endUnwantedBodies(handler: RequestListener): RequestListener {
  return (request, response) => {
    const bytes = bodyLength(request)
    if (bytes) {
      const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse
      response.writeHead = (...head: unknown[]) => {
        const { connection } = Object(head.at(-1)) as { connection?: string }
        const ends = bytes > max_unwanted_bytes || connection === 'close'
        if (ends && !request.complete) leaveBody(request, response)
        return writeHead(...head)
      }
    }
    handler(request, response)
  }
}

// A chunked body has no length.
const bodyLength = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0)
    : Number.POSITIVE_INFINITY

function leaveBody(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  ending.add(socket)
  response.shouldKeepAlive = false
  const destroySoon = socket.destroySoon.bind(socket)
  let timer: NodeJS.Timeout | undefined
  // Node calls it after the last answer of a connection.
  socket.destroySoon = () => {
    socket.end()
    timer = setTimeout(() => socket.destroy(), last_read_ms).unref()
  }
  const end = () => {
    clearTimeout(timer)
    socket.destroySoon = destroySoon
    if (socket.writableEnded) destroySoon()
  }
  // Node calls it with each part that it has read. After false it stops to read, until `_read` is called.
  const push = request.push.bind(request)
  request.push = (part) => part === null && push(part)
  // Without a call, Node would read the body without calls of `push`.
  request._read(0)
  request._read = () => {}
  request.once('end', end).once('close', end).resume()
}

const awaiting = new WeakSet<object>()

/** Lets the client of a request with `Expect: 100-continue` wait until its body is wanted. */
export function awaitWish(server: Server, handler: RequestListener): void {
  server.on('checkContinue', (request, response) => {
    awaiting.add(response)
    handler(request, response)
  })
}

/** Sends 100 Continue to a client that waits for it. */
export const askForBody = (response: ServerResponse): void => {
  if (awaiting.delete(response)) response.writeContinue()
}

const long_bodies = new WeakSet<object>()

/** Lets the body of a request take longer than the server's limit, such as a large file. Its route must limit the silence. */
export const allowLongBody = (socket: Socket): void => void long_bodies.add(socket)
/** Whether a request on the connection may take longer. */
export const mayTakeLong = (socket: object): boolean => long_bodies.has(socket)

// The number of checks in a write timeout.
const checks = 6

// writeQueueSize: the bytes of the current write that the system has not accepted. Node has no public property for it.
type Writing = Socket & { _handle?: { writeQueueSize?: number } | null }

/** Destroys connections whose client has read nothing of its answer for `timeout_ms`. Slow clients that read are kept. */
export function cutStalledReaders(server: Server, timeout_ms = write_timeout_ms): void {
  const stalled = new Map<Socket, { state: string; checks: number }>()
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => {
      connections.delete(socket)
      stalled.delete(socket)
    })
  })

  function check() {
    for (const socket of connections) {
      const { writableLength, bytesWritten, _handle } = socket as Writing
      const in_write = _handle?.writeQueueSize ?? 0
      if (!writableLength && !in_write) {
        stalled.delete(socket)
        continue
      }
      const state = `${bytesWritten} ${writableLength} ${in_write}`
      const known = stalled.get(socket)
      // Count checks instead of time: a pause of this process must not disconnect its clients.
      if (known?.state !== state) stalled.set(socket, { state, checks: 0 })
      else if (++known.checks >= checks) socket.destroy()
    }
  }
  const timer = setInterval(check, Math.ceil(timeout_ms / checks)).unref()
  server.once('close', () => clearInterval(timer))
}
