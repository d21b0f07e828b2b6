import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** A client that takes nothing of its answer for so long is cut off. */
export const write_timeout_ms = 30_000

// A client that sends more requests ahead of their answers is cut off.
const max_ahead = 100

/**
 * Answers the requests of a connection one after the other. Node would let all requests that a client sends ahead be worked
 * on at once, and keep every answer until the client reads: a connection could hold hundreds of answers.
 */
export function inTurn(handler: RequestListener): RequestListener {
  const ahead = new WeakMap<Socket, number>()
  return (request, response) => {
    // Node gives the socket to one answer at a time, in the order of the requests.
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

// A write time-out is so many looks.
const looks = 6

// What a socket's own numbers leave out: how much of the write that is under way the system has not taken yet.
type Writing = Socket & { _handle?: { writeQueueSize?: number } | null }

/** Ends connections whose client has taken nothing of what waits for it for `timeout_ms`. A slow client that still reads is kept. */
export function cutStalledReaders(server: Server, timeout_ms = write_timeout_ms): void {
  const stalled = new Map<Socket, { state: string; looks: number }>()
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => {
      connections.delete(socket)
      stalled.delete(socket)
    })
  })

  function look() {
    for (const socket of connections) {
      const { writableLength, bytesWritten, _handle } = socket as Writing
      const in_write = _handle?.writeQueueSize ?? 0
      if (!writableLength && !in_write) {
        stalled.delete(socket)
        continue
      }
      const state = `${bytesWritten} ${writableLength} ${in_write}`
      const known = stalled.get(socket)
      // Counted in looks, not in time: a pause of this process is no fault of its clients.
      if (known?.state !== state) stalled.set(socket, { state, looks: 0 })
      else if (++known.looks >= looks) socket.destroy()
    }
  }
  const timer = setInterval(look, Math.ceil(timeout_ms / looks)).unref()
  server.once('close', () => clearInterval(timer))
}
