import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

// A webhook receiver in its own process. It keeps the id, the signature and the body of each delivery. When the parent sends
// a secret, it verifies the signatures with an independent library, reports the deliveries and forgets them. When the parent
// sends null, it reports only their number.

type Received = {
  id: string
  timestamp: string
  signature: string
  at_ms: number
  body: string
}
let received: Received[] = []

const server = createServer({ keepAlive: true, keepAliveTimeout: 60_000 }, (request, response) => {
  const { headers } = request
  let body = ''
  request.setEncoding('utf8').on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    received.push({
      id: String(headers['webhook-id']),
      timestamp: String(headers['webhook-timestamp']),
      signature: String(headers['webhook-signature']),
      at_ms: Date.now(),
      body,
    })
    response.writeHead(200, { 'content-length': 2 }).end('ok')
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))

process.on('message', (secret: string | null) => {
  if (secret === null) return void process.send?.({ requests: received.length })
  const webhook = new Webhook(secret)
  const bad = received.filter(({ id, timestamp, signature, body }) => {
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    try {
      return !webhook.verify(body, headers)
    } catch {
      return true
    }
  })
  const distinct = new Set(received.map(({ id }) => id)).size
  // From the time of the event, which is before its commit, to the receipt.
  const delays_ms = received.map(({ at_ms, body }) => at_ms - Date.parse(JSON.parse(body).timestamp))
  const last_ms = received.at(-1)?.at_ms
  process.send?.({ requests: received.length, distinct, bad_signatures: bad.length, delays_ms, last_ms })
  received = []
})
process.on('disconnect', () => process.exit())
