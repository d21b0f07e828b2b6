import type { IncomingMessage, RequestListener, Server } from 'node:http'
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
    if (isDiscarding(request.socket)) return void request.socket.destroy()
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

const discarding = new WeakSet<object>()
/** Whether a connection discards the rest of a body that was refused. */
export const isDiscarding = (socket: object): boolean => discarding.has(socket)
// How long a client may go on to send a body that was refused.
const discard_ms = 30_000

/**
 * Reads the rest of a body that is refused before the connection closes, and discards it. A connection that closes with
 * unread bytes is reset, so a client that still sends would not get the answer.
 */
export function discardRest(request: IncomingMessage): void {
  const { socket } = request
  if (request.complete || discarding.has(socket)) return
  discarding.add(socket)
  const destroySoon = socket.destroySoon.bind(socket)
  const timer = setTimeout(() => socket.destroy(), discard_ms).unref()
  // Node calls it after the last answer of a connection.
  socket.destroySoon = () => void socket.end()
  const end = () => {
    clearTimeout(timer)
    socket.destroySoon = destroySoon
    if (socket.writableEnded) destroySoon()
  }
  request.once('end', end).once('close', end).resume()
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
