import { request } from 'node:http'
import type { Socket } from 'node:net'

/** An HTTP proxy, with the value of Proxy-Authorization if the URL has a user. */
export type HttpProxy = { host: string; port: number; authorization: string | null }

/** The proxy of WEBHOOK_PROXY_URL. */
export function parseProxy(text: string): HttpProxy {
  const { hostname, port, username, password } = new URL(text)
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || 80,
    authorization: username || password ? `Basic ${Buffer.from(credentials).toString('base64')}` : null,
  }
}

const max_header_bytes = 16_384

/**
 * Asks the proxy at the other end of the socket for a tunnel to a target (CONNECT), also for http: so the proxy cannot
 * change a request. Returns the status of the answer. After 2xx, the socket leads to the target.
 */
export function openTunnel(
  socket: Socket,
  { authorization }: HttpProxy,
  target: { host: string; port: number },
): Promise<number> {
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
  return new Promise((resolve, reject) => {
    const asking = request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...(authorization && { 'proxy-authorization': authorization }) },
      createConnection: () => socket,
      maxHeaderSize: max_header_bytes,
    })
    asking.once('connect', ({ statusCode = 0 }, _socket, head) => {
      if (head.length) socket.unshift(head)
      resolve(statusCode)
    })
    asking.on('error', reject)
    asking.end()
  })
}

/** Why a status gives no tunnel; null if it does. */
export function tunnelProblem(status: number): string | null {
  if (status >= 200 && status <= 299) return null
  if (status === 407) return 'The proxy refused its user or password (407). Check WEBHOOK_PROXY_URL.'
  return `The proxy did not connect to the receiver: it answered ${status}.`
}
