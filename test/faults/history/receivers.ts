import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type { Receipt } from './history.ts'
import { createChance } from './random.ts'
import { now_ms } from './recorder.ts'

/**
 * A receiver that writes every request down. It answers late, so that overlapping attempts of a delivery are seen. It
 * fails as often as the path says.
 */
export async function startReceivers(seed: number) {
  const receipts: Receipt[] = []
  const chance = createChance(seed ^ 0x5eed)
  let healthy = false
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request
    const receipt: Receipt = {
      at_ms: now_ms(),
      ended_ms: Infinity,
      path,
      headers: headers as Record<string, string>,
      body: '',
      status: null,
    }
    response.once('close', () => {
      receipt.ended_ms = now_ms()
    })
    const body = await text(request).catch(() => null)
    // A request that never came whole is none.
    if (body === null) return
    receipt.body = body
    receipts.push(receipt)
    await pause(chance.below(10))
    const fails = !healthy && chance.below(path.includes('/all') ? 60 : 4) === 0
    const how = fails ? chance.weighted({ status: 6, reset: 2, late: 1 }) : 'well'
    if (how === 'reset') return request.socket.resetAndDestroy()
    // Later than the attempt lasts: it ends without an answer.
    if (how === 'late') return
    receipt.status = how === 'well' ? 200 : 500
    response.writeHead(receipt.status).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    receipts,
    /** Whether a delivery was answered with an error since then, and with success at its next attempt. */
    hasRetried(since_ms: number): boolean {
      const refused = new Set<string>()
      for (const { at_ms, status, headers } of receipts) {
        const id = headers['x-service-delivery'] ?? ''
        if (at_ms < since_ms || status === null) continue
        if (status === 200 && refused.has(id)) return true
        if (status !== 200) refused.add(id)
      }
      return false
    },
    /** From now on every request is answered well. */
    heal() {
      healthy = true
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
