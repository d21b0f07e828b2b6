import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verify } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'

export type Received = { delivery_id: string; event: string; body: string; signature_ok: boolean }

/**
 * A small receiver, as a user of webhooks would write it. It verifies both signatures with independent libraries, answers 204
 * and calls `onReceived`.
 */
export async function startReceiver(secret: () => string, onReceived: (received: Received) => void) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const headers = request.headers as Record<string, string>
      const signature_ok = await bothVerify(secret(), body, headers)
      response.writeHead(signature_ok ? 204 : 401).end()
      const { 'x-service-delivery': delivery_id = '', 'x-service-event': event = '' } = headers
      onReceived({ delivery_id, event, body, signature_ok })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/crm`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function bothVerify(secret: string, body: string, headers: Record<string, string>): Promise<boolean> {
  try {
    new Webhook(secret).verify(body, headers)
    return await verify(secret, body, headers['x-service-signature'] ?? '')
  } catch {
    return false
  }
}
