import { connect, type Socket } from 'node:net'

export type Request = { method: string; path: string; headers?: Record<string, string>; body?: string }

/** Sends requests over `clients` keep-alive sockets for `seconds`, and returns answers per second. */
export async function load(
  port: number,
  clients: number,
  seconds: number,
  next: () => Request,
): Promise<number> {
  const took = await measure(port, clients, seconds, next)
  return took.length / seconds
}

/** Sends one request after another for `seconds`, and returns the median latency in ms. */
export async function latency(port: number, seconds: number, next: () => Request): Promise<number> {
  return median(await measure(port, 1, seconds, next))
}

export const median = (list: readonly number[]) =>
  [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] as number

/**
 * Sends requests over `clients` keep-alive sockets for `seconds`, one at a time on each. Returns the latencies in ms.
 * It parses only the length of an answer, so that the server is the bottleneck. Throws at the first error answer.
 */
async function measure(
  port: number,
  clients: number,
  seconds: number,
  next: () => Request,
): Promise<number[]> {
  const until = performance.now() + seconds * 1000
  const took: number[] = []
  const client = () =>
    new Promise<void>((resolve, reject) => {
      let sent = 0
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      const send = () => {
        sent = performance.now()
        socket.write(bytes(next()))
      }
      socket.on('error', reject)
      socket.on('connect', send)
      onAnswer(socket, (head) => {
        if (!/^HTTP\/1\.1 20[01]/.test(head)) {
          socket.destroy()
          return reject(new Error(`The server answered: ${head.split('\r\n')[0]}`))
        }
        const now = performance.now()
        took.push(now - sent)
        if (now < until) return send()
        socket.destroy()
        resolve()
      })
    })
  await Promise.all(Array.from({ length: clients }, client))
  return took
}

function bytes({ method, path, headers = {}, body }: Request): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body !== undefined)
    lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}

function onAnswer(socket: Socket, done: (head: string) => void) {
  let parts: Buffer[] = []
  let missing = -1
  socket.on('data', (chunk) => {
    parts.push(chunk)
    if (missing < 0) {
      const text = Buffer.concat(parts)
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = text.toString('latin1', 0, end)
      const length = /content-length: (\d+)/i.exec(head)?.[1]
      if (length === undefined)
        return void socket.destroy(new Error('An answer came without Content-Length.'))
      missing = end + 4 + Number(length) - text.length
      parts = [Buffer.from(head, 'latin1')]
    } else missing -= chunk.length
    if (missing > 0) return
    const head = (parts[0] as Buffer).toString('latin1')
    parts = []
    missing = -1
    done(head)
  })
}
