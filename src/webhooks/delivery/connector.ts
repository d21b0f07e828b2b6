import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import { addressAllowed, refusal, type TargetPolicy } from '../registration/target.ts'
import { type HttpProxy, openTunnel, tunnelProblem } from './proxy.ts'
import { type Resolve, resolveInTime } from './resolve.ts'

/** Every error code of an attempt in the log (contract: webhooks). Only the dispatcher sets `interrupted`. */
export const attempt_error_codes = [
  'timeout',
  'dns_error',
  'connection_refused',
  'connection_reset',
  'tls_error',
  'protocol_error',
  'address_blocked',
  'redirect_not_followed',
  'http_error',
  'interrupted',
] as const

export type AttemptError = { code: (typeof attempt_error_codes)[number]; message: string }

export type ConnectorOptions = {
  policy: TargetPolicy
  /** The timeout for DNS, TCP and TLS together. */
  connect_timeout_ms: number
  resolve: Resolve
  /** Replaces the default certificate authorities. */
  secureContext?: SecureContext | undefined
  /** Dials this HTTP proxy, and asks it for a tunnel to the target. */
  proxy?: HttpProxy | null
}

/** An error of this connector. It has no `code`: undici reconnects after some codes. */
type ConnectFailure = Error & { attempt_code: AttemptError['code'] }

/**
 * A connector for undici that dials only allowed addresses. It resolves a name once, checks every address, and dials
 * these same addresses. So DNS rebinding cannot lead to another address. IP literals, for which Node calls no lookup
 * function, get the same check. A proxy gets the name, after the same check, and resolves it again.
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { policy, connect_timeout_ms, resolve, secureContext, proxy } = options

  return ({ hostname, protocol, port }, callback) => {
    const secure = protocol === 'https:'
    const target = { host: hostname, port: Number(port) || (secure ? 443 : 80) }
    // The sockets of this connection, and the tunnel below them.
    const opened: Socket[] = []
    let settled = false

    const fail = (error: Error) => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      for (const socket of opened) socket.destroy()
      callback(error, null)
    }
    const late = () => fail(failure('timeout', `No connection within ${connect_timeout_ms} ms.`))
    const timer = setTimeout(late, connect_timeout_ms)

    const ready = (socket: Socket) => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      callback(null, socket)
    }

    /** Never remove the listener. Before undici adds its own, an error without a listener would end the process. */
    const watch = (socket: Socket, explain: (error: NodeJS.ErrnoException) => Error) => {
      opened.push(socket)
      socket.on('error', (error) => fail(explain(error)))
      return socket
    }

    const dial = (addresses: string[], { host, port }: typeof target): Socket =>
      connectTcp({
        host,
        port,
        lookup: pinned(addresses),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: 500,
      })
        .setNoDelay(true)
        .setKeepAlive(true, 60_000)

    const encrypt = (below: Socket) => {
      if (settled) return
      // SNI allows neither an IP address nor a trailing dot. TLS checks the certificate against the host.
      const servername = isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : undefined
      const names = { host: hostname, servername }
      const how = { secureContext, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] }
      const socket = connectTls({ socket: below, ...names, ...how })
      socket.once('secureConnect', () => ready(socket))
      watch(socket, tlsError)
    }

    const connected = (socket: Socket) => (secure ? encrypt(socket) : ready(socket))

    const dialTarget = (addresses: string[]) => {
      if (settled) return
      const socket = watch(dial(addresses, target), (error) => error)
      socket.once('connect', () => {
        const { remoteAddress } = socket
        if (remoteAddress !== undefined && !addressAllowed(remoteAddress, policy))
          fail(blocked(hostname, [remoteAddress]))
        else connected(socket)
      })
    }

    const dialProxy = async (through: HttpProxy) => {
      // The operator chose the proxy, which may be in a private network.
      const addresses = await addressesOf(through.host, resolve)
      if (settled) return
      if (addresses.length === 0)
        throw failure('dns_error', `The name of the proxy, ${through.host}, could not be resolved.`)
      const socket = watch(dial(addresses, through), proxyError)
      const status = await openTunnel(socket, through, target).catch((error) => {
        throw proxyError(error)
      })
      const problem = tunnelProblem(status)
      if (problem) throw failure('connection_refused', problem)
      connected(socket)
    }

    allowedAddresses(hostname, policy, resolve)
      .then((addresses) => (proxy ? dialProxy(proxy) : dialTarget(addresses)))
      .catch(fail)
  }
}

async function addressesOf(hostname: string, resolve: Resolve): Promise<string[]> {
  return isIP(hostname) ? [hostname] : resolveInTime(resolve, hostname).catch(() => [])
}

async function allowedAddresses(hostname: string, policy: TargetPolicy, resolve: Resolve): Promise<string[]> {
  const addresses = await addressesOf(hostname, resolve)
  if (addresses.length === 0) throw failure('dns_error', `The name ${hostname} could not be resolved.`)
  if (!addresses.every((address) => addressAllowed(address, policy))) throw blocked(hostname, addresses)
  return addresses
}

/** A lookup function that returns the given addresses. */
function pinned(addresses: string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    if (options.all) callback(null, answers)
    else callback(null, answers[0]!.address, answers[0]!.family)
  }
}

function blocked(hostname: string, addresses: string[]): ConnectFailure {
  return failure('address_blocked', `Not contacted: ${refusal(hostname, addresses)}`)
}

function failure(attempt_code: AttemptError['code'], message: string): ConnectFailure {
  return Object.assign(new Error(message), { attempt_code })
}

const unreachable = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL']
const isRefusal = (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED'
const reset = ['ECONNRESET', 'EPIPE', 'ECONNABORTED']

function tlsError(error: NodeJS.ErrnoException): Error {
  const cut = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(error.code ?? '')
  return cut ? error : failure('tls_error', `TLS failed: ${error.message}`)
}

function proxyError(error: Error): ConnectFailure {
  const { code, message } = attemptError(error)
  if (code === 'connection_reset') return failure(code, 'The proxy closed the connection before it answered.')
  if (code === 'protocol_error') return failure(code, 'The answer of the proxy is not valid HTTP.')
  return failure(code, `The proxy could not be reached. ${message}`)
}

// The messages of undici for answers that it does not accept.
const not_asked = new Map([
  ['bad response', 'The receiver answered 100 Continue, or answered before it got the request.'],
  ['bad upgrade', 'The receiver answered 101 Switching Protocols, which the request did not ask for.'],
])

/** Maps an error of undici, a socket or this connector to an error of the log. */
export function attemptError(error: unknown): AttemptError {
  // Several addresses failed. Prefer a refusal, which says more than a missing route.
  const cause =
    error instanceof AggregateError ? (error.errors.find(isRefusal) ?? error.errors.at(-1)) : error
  const { attempt_code, code = '', message } = cause as Partial<ConnectFailure> & NodeJS.ErrnoException
  const detail = message || code || String(error)
  if (attempt_code !== undefined) return { code: attempt_code, message: detail }
  if (unreachable.includes(code)) {
    return { code: 'connection_refused', message: `The connection failed: ${code}.` }
  }
  // undici reports a connection that the receiver closed only in the message. Its other socket errors mean invalid HTTP.
  if (reset.includes(code) || (code === 'UND_ERR_SOCKET' && /closed/.test(detail))) {
    return { code: 'connection_reset', message: 'The receiver closed the connection before it answered.' }
  }
  if (code === 'ETIMEDOUT') return { code: 'timeout', message: 'The connection timed out.' }
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO)/.test(code)) return { code: 'tls_error', message: `TLS failed: ${detail}` }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { code: 'protocol_error', message: "The answer's headers are too large." }
  }
  const answer = not_asked.get(detail)
  if (answer) return { code: 'protocol_error', message: answer }
  return { code: 'protocol_error', message: `The exchange failed: ${detail}` }
}
