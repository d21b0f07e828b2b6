import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { addressAllowed, refusal, type TargetPolicy } from '../registration/target.ts'
import { type Resolve, resolveInTime } from './resolve.ts'

/** Every code that an attempt in the log can carry (contract: webhooks); the dispatcher alone gives `interrupted`. */
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
  /** For DNS, TCP and TLS together. */
  connect_timeout_ms: number
  resolve: Resolve
  /** A certificate to trust in place of the well-known authorities (PEM). */
  ca?: string
}

/** An error of the connector itself. It has no `code`: undici treats some codes as a reason to connect again. */
type ConnectFailure = Error & { attempt_code: AttemptError['code'] }

/**
 * A connector for undici that dials allowed addresses only. A name is resolved once, every answer is judged, and
 * those very addresses are dialled, so a name that changes its mind in between (DNS rebinding) gains nothing;
 * IP literals, which never reach a lookup function, are judged the same way.
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
    const late = () => fail(failure('timeout', `There was no connection within ${connect_timeout_ms} ms.`))
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
        // An IP address can't be a server name; a trailing dot belongs to DNS only.
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
      // Stays for the life of the socket: until undici has its own, an error without a listener would end the process.
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

/** A lookup function that knows the answer already. */
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

/** What an error of undici, of a socket or of this connector means to the reader of the log. */
export function attemptError(error: unknown): AttemptError {
  // Several addresses were tried in turn: one that refused says more than one without a route.
  const one = error instanceof AggregateError ? (error.errors.find(isRefusal) ?? error.errors.at(-1)) : error
  const { attempt_code, code = '', message } = one as Partial<ConnectFailure> & NodeJS.ErrnoException
  const detail = message || code || String(error)
  if (attempt_code !== undefined) return { code: attempt_code, message: detail }
  if (unreachable.includes(code)) {
    return { code: 'connection_refused', message: `There was no connection: ${code}.` }
  }
  // undici names a connection that the other side closed in its messages only; its other socket errors are bad HTTP.
  if (reset.includes(code) || (code === 'UND_ERR_SOCKET' && /closed/.test(detail))) {
    return { code: 'connection_reset', message: 'The connection was closed before an answer came.' }
  }
  if (code === 'ETIMEDOUT') return { code: 'timeout', message: 'The connection timed out.' }
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO)/.test(code)) return { code: 'tls_error', message: `TLS failed: ${detail}` }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { code: 'protocol_error', message: "The answer's headers are too large." }
  }
  return { code: 'protocol_error', message: `The exchange failed: ${detail}` }
}
