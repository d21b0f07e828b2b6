import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { addressAllowed, refusal, type TargetPolicy } from '../registration/target.ts'
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
  /** A certificate (PEM) that replaces the default certificate authorities. */
  ca?: string
}

/** An error of this connector. It has no `code`: undici reconnects after some codes. */
type ConnectFailure = Error & { attempt_code: AttemptError['code'] }

/**
 * A connector for undici that dials only allowed addresses. It resolves a name once, checks every address, and dials
 * these same addresses. So DNS rebinding cannot lead to another address. IP literals, for which Node calls no lookup
 * function, get the same check.
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { policy, connect_timeout_ms, resolve, ca } = options

  return ({ hostname, protocol, port }, callback) => {
    const secure = protocol === 'https:'
    let socket: Socket | undefined
    let settled = false

    const fail = (error: Error) => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      socket?.destroy()
      callback(error, null)
    }
    const late = () => fail(failure('timeout', `No connection within ${connect_timeout_ms} ms.`))
    const timer = setTimeout(late, connect_timeout_ms)

    const ready = () => {
      if (settled || socket === undefined) return
      const { remoteAddress } = socket
      if (remoteAddress !== undefined && !addressAllowed(remoteAddress, policy)) {
        return fail(blocked(hostname, [remoteAddress]))
      }
      settled = true
      clearTimeout(timer)
      callback(null, socket)
    }

    const dial = (addresses: string[]) => {
      if (settled) return
      const several = {
        lookup: pinned(addresses),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: 500,
      }
      const tcp = { ...several, host: hostname, port: Number(port) || (secure ? 443 : 80) }
      if (secure) {
        // SNI allows neither an IP address nor a trailing dot.
        const servername = isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : undefined
        socket = connectTls({ ...tcp, servername, ca, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] })
        socket.once('secureConnect', ready)
      } else {
        socket = connectTcp(tcp)
        socket.once('connect', ready)
      }
      let reached = false
      socket.once('connect', () => {
        reached = true
      })
      // Never remove this listener. Before undici adds its own, an error without a listener would end the process.
      socket.on('error', (error: NodeJS.ErrnoException) => {
        const cut = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(error.code ?? '')
        fail(secure && reached && !cut ? failure('tls_error', `TLS failed: ${error.message}`) : error)
      })
      socket.setNoDelay(true).setKeepAlive(true, 60_000)
    }

    allowedAddresses(hostname, policy, resolve).then(dial).catch(fail)
  }
}

async function allowedAddresses(hostname: string, policy: TargetPolicy, resolve: Resolve): Promise<string[]> {
  const literal = isIP(hostname) !== 0
  const addresses = literal ? [hostname] : await resolveInTime(resolve, hostname).catch(() => [])
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
  return { code: 'protocol_error', message: `The exchange failed: ${detail}` }
}
