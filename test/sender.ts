import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createSender, type SenderOptions } from '../src/webhooks/delivery/deliver.ts'
import { startReceiver, startTcpServer } from './receiver.ts'
import { useFor } from './use.ts'

export const message = {
  headers: { 'Content-Type': 'application/json' },
  body: '{"event":"ping","name":"Zoë"}',
}

/** A sender of deliveries that closes at the end of the test. A receiver in this process may be late on a busy machine. */
export function sender(t: TestContext, options: Partial<SenderOptions> = {}) {
  const policy = { allowed_networks: [], allow_private: true }
  const made = createSender({
    policy,
    timeout_ms: 60_000,
    connect_timeout_ms: 60_000,
    version: '1.2.3',
    ...options,
  })
  t.after(() => made.close())
  return made
}

export const receiver = (t: TestContext, ...how: Parameters<typeof startReceiver>) =>
  useFor(t, startReceiver(...how))

export const tcpServer = (t: TestContext, speak: (socket: Socket, number: number) => void) =>
  useFor(t, startTcpServer(speak))

/** Calls back for every complete request on a connection, for any division into packets. */
export function onRequest(socket: Socket, answer: () => void) {
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
    if (!text.endsWith(message.body)) return
    text = ''
    answer()
  })
}
