import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A webhook receiver in a process of its own, as quick as node:http is: it keeps the ids of the deliveries and answers
// 200. Told anything by its parent, it sends what came since the last time, and begins anew.

let requests = 0
let bytes = 0
let ids = new Set<string>()

const server = createServer({ keepAlive: true, keepAliveTimeout: 60_000 }, (request, response) => {
  requests++
  ids.add(String(request.headers['x-service-delivery']))
  request.on('data', (chunk) => {
    bytes += chunk.length
  })
  request.on('end', () => response.writeHead(200, { 'content-length': 2 }).end('ok'))
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))

process.on('message', () => {
  process.send?.({ requests, distinct: ids.size, bytes })
  requests = 0
  bytes = 0
  ids = new Set()
})
process.on('disconnect', () => process.exit())
