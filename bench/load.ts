import { connect, type Socket } from 'node:net'

export type Request = { method: string; path: string; headers?: Record<string, string>; body?: string }

/** A load ends after some seconds or after some requests. */
type Load = {
  /** Keep-alive sockets, with one request at a time on each. */
  clients: number
  seconds?: number
  requests?: number
  /** Requests per second of all clients together. By default, each answer is followed by the next request. */
  rate?: number
}

/** Sends requests, and returns answers per second. */
export async function load(port: number, extent: Load, next: () => Request): Promise<number> {
  const before = performance.now()
  const { length } = await latencies(port, extent, next)
  return (length / (performance.now() - before)) * 1000
}

/** Sends requests, and returns the median latency in ms. */
export const latency = async (port: number, extent: Load, next: () => Request): Promise<number> =>
  median(await latencies(port, extent, next))

export const quantile = (list: readonly number[], part: number) =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length * part)] as number
export const median = (list: readonly number[]) => quantile(list, 0.5)

/**
 * Measures each side in turn, `rounds` times after a warm-up. So a slow period of the machine affects all sides, and the
 * results of a round can be compared.
 */
export async function inTurn<Side extends string>(
  sides: readonly Side[],
  rounds: number,
  once: (side: Side, is_warm_up: boolean) => Promise<number>,
): Promise<Record<Side, number[]>> {
  const results = Object.fromEntries(sides.map((side) => [side, []])) as unknown as Record<Side, number[]>
  for (const side of sides) await once(side, true)
  for (let round = 0; round < rounds; round++)
    for (const side of sides) results[side].push(await once(side, false))
  return results
}

/**
 * Sends requests, and returns the latency of each in ms. It parses only the length of an answer, so that the server is the
 * bottleneck. Throws at the first error answer.
 */
export async function latencies(
  port: number,
  { clients, seconds = Infinity, requests = Infinity, rate }: Load,
  next: () => Request,
): Promise<number[]> {
  const start = performance.now()
  const until = start + seconds * 1000
  // With a rate, each client sends at fixed times. A late answer does not move them.
  const interval = rate ? (clients * 1000) / rate : 0
  const took: number[] = []
  let asked = 0
  const client = (_: unknown, number: number) =>
    new Promise<void>((resolve, reject) => {
      let due = start + (number * interval) / clients
      let sent = 0
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      const send = () => {
        sent = performance.now()
        socket.write(bytes(next()))
      }
      const sendWhenDue = () => {
        asked++
        const wait = due - performance.now()
        due += interval
        if (interval && wait > 0) setTimeout(send, wait)
        else send()
      }
      socket.on('error', reject)
      socket.on('connect', sendWhenDue)
      onAnswer(socket, (head) => {
        if (!/^HTTP\/1\.1 (20[01]|30[34])/.test(head)) {
          socket.destroy()
          return reject(new Error(`The server answered: ${head.split('\r\n')[0]}`))
        }
        const now = performance.now()
        took.push(now - sent)
        if (now < until && asked < requests) return sendWhenDue()
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
      const length = /^HTTP\/1\.1 304/.test(head) ? '0' : /content-length: (\d+)/i.exec(head)?.[1]
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
