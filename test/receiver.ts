import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { verify } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { use } from './use.ts'

export type Received = {
  at_ms: number
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** The answer: a response (by default 200, empty, at once; `after` something), no response ever, or a TCP reset. */
export type Answer =
  | {
      status?: number
      headers?: Record<string, string>
      body?: string
      delay_ms?: number
      after?: Promise<unknown>
    }
  | 'hang'
  | 'reset'

/** Decides from the request and its number, counted from 1. */
export type Answering = (request: Received, number: number) => Answer

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** A receiver that the tests of a file share. Use it before the service, so that it closes after it. */
export const useReceiver = (options?: Parameters<typeof startReceiver>[0]): Receiver =>
  use(() => startReceiver(options))

/** A webhook receiver on 127.0.0.1 that records every request; `answering` may be replaced at any time. */
export async function startReceiver(options: { port?: number; answer?: Answer | Answering } = {}) {
  const { port = 0, answer = {} } = options
  const received: Received[] = []
  const watchers = new Set<() => void>()

  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const at_ms = Date.now()
    const entry = { at_ms, method, path, headers, body: await text(request).catch(() => '') }
    const number = received.push(entry)
    for (const watch of watchers) watch()

    const reply = receiver.answering(entry, number)
    if (reply === 'hang') return
    if (reply === 'reset') return request.socket.resetAndDestroy()
    if (reply.after) await reply.after
    const write = () => response.writeHead(reply.status ?? 200, reply.headers).end(reply.body)
    if (reply.delay_ms === undefined) write()
    else setTimeout(write, reply.delay_ms)
  })
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))

  const receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answering: typeof answer === 'function' ? answer : () => answer,

    /** Resolves with all requests when there are enough of them, or when the condition holds. */
    waitFor(wanted: number | ((received: Received[]) => boolean), timeout_ms = 120_000): Promise<Received[]> {
      const enough = typeof wanted === 'number' ? () => received.length >= wanted : () => wanted(received)
      return new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer)
          watchers.delete(watch)
        }
        const watch = () => {
          if (!enough()) return
          end()
          resolve(received)
        }
        const timer = setTimeout(() => {
          end()
          reject(
            new Error(`not received within ${timeout_ms} ms: ${wanted}; requests so far: ${received.length}`),
          )
        }, timeout_ms)
        watchers.add(watch)
        watch()
      })
    },

    /** Rejects unless the secret verifies both kinds of signature of every request, by libraries that are not ours. */
    async verify(secret: string, requests: Received[] = received): Promise<void> {
      for (const request of requests) {
        const { service, standard } = await verifySignatures(secret, request)
        if (!service || !standard)
          throw new Error(`bad signature: ${JSON.stringify({ service, standard, request })}`)
      }
    },

    /** Ends every connection, so that what hangs fails at once. */
    drop: () => server.closeAllConnections(),

    /** Also ends open connections. */
    close(): Promise<void> {
      return new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      })
    },
  }
  return receiver
}

/**
 * Which signatures of a request a secret verifies. `standard` also needs a `webhook-timestamp` within five minutes of
 * the real time.
 */
export async function verifySignatures(secret: string, { headers, body }: Received) {
  const service = await verify(secret, body, String(headers['x-service-signature']))
  const next = headers['x-service-signature-next']
  const service_next = next !== undefined && (await verify(secret, body, String(next)))
  const library = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' })
  let standard = true
  try {
    library.verify(body, headers as Record<string, string>)
  } catch {
    standard = false
  }
  return { service, service_next, standard }
}

/** A server on loopback for what no HTTP server would do: `speak` has each connection to itself. */
export async function startTcpServer(speak: (socket: Socket, number: number) => void, host = '127.0.0.1') {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    speak(socket, sockets.size)
  })
  await new Promise<void>((listening) => server.listen(0, host, listening))
  const { port } = server.address() as AddressInfo

  return {
    port,
    url: `http://${host}:${port}/hook`,
    connections: () => sockets.size,
    close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      return new Promise((closed) => server.close(() => closed()))
    },
  }
}
