import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** A proxy to a server on 127.0.0.1 that can fail as networks do. It ends with the test. */
export async function startProxy(t: TestContext, url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const answers = new Set<Socket>()
  let hanging = false
  let arriving: ((near: Socket) => Promise<void>) | null = null
  const server = createServer(async (near) => {
    near.on('error', () => {})
    await arriving?.(near)
    const far = connect(Number(target.port), target.hostname)
    answers.add(far)
    far.on('close', () => answers.delete(far))
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
      if (hanging) from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.after(() => {
    server.close()
    drop()
  })
  const through = new URL(url)
  through.port = String((server.address() as AddressInfo).port)
  return {
    url: through.href,
    /** From now on nothing passes, of no connection; new ones are taken, and nothing comes of them. */
    hang() {
      hanging = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    /** New connections work again. Old ones never get another byte, as after the fail-over of a dead machine. */
    heal() {
      hanging = false
    },
    drop,
    /** From now on, each new connection first waits for this work. */
    onArrival(work: (near: Socket) => Promise<void>) {
      arriving = work
    },
    /** Keeps the answers of all open connections until the returned function is called. */
    keepAnswers() {
      const kept = [...answers].map((far) => far.pause())
      return () => {
        for (const far of kept) far.resume()
      }
    },
  }
}
