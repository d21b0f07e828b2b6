import { connect, type Socket } from 'node:net'

export type Request = { method: string; path: string; headers?: Record<string, string>; body?: string }

/**
 * Sends requests over `clients` keep-alive sockets for `seconds`, each waiting for its answer before the next, and
 * returns answers a second. It reads just enough HTTP to know where an answer ends, so that the server and not this
 * program is the limit. Throws at the first answer that is not a success.
 */
export async function load(
  port: number,
  clients: number,
  seconds: number,
  next: () => Request,
): Promise<number> {
  const until = performance.now() + seconds * 1000
  let answers = 0
  await Promise.all(
    Array.from(
      { length: clients },
      () =>
        new Promise<void>((resolve, reject) => {
          const socket = connect({ port, host: '127.0.0.1', noDelay: true })
          socket.on('error', reject)
          socket.on('connect', () => socket.write(bytes(next())))
          onAnswer(socket, (head) => {
            if (!/^HTTP\/1\.1 20[01]/.test(head)) {
              socket.destroy()
              return reject(new Error(`The server answered: ${head.split('\r\n')[0]}`))
            }
            answers++
            if (performance.now() < until) socket.write(bytes(next()))
            else {
              socket.destroy()
              resolve()
            }
          })
        }),
    ),
  )
  return answers / seconds
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
