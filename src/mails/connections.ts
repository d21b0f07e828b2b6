import type { SecureContext } from 'node:tls'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { SmtpServer } from './settings.ts'

export type ErrorCode =
  | 'smtp_4xx'
  | 'smtp_5xx'
  | 'timeout'
  | 'dns_error'
  | 'connection_refused'
  | 'connection_reset'
  | 'tls_error'
  | 'auth_error'
  | 'protocol_error'
  | 'address_unsupported'
  | 'interrupted'
export type SmtpOptions = {
  server: SmtpServer
  /** Replaces the default certificate authorities. */
  secureContext?: SecureContext | undefined
  /** The limit of one answer. */
  timeout_ms: number
}

const max_connections = 2
const idle_ms = 5000
/** The limit of an answer that is kept. */
export const max_answer_bytes = 16 * 1024

export type Open = { connection: SMTPConnection; has_smtputf8: boolean }

/** An error with its code: the server's fault before a mail has begun. */
export class SmtpError extends Error {
  readonly code: ErrorCode
  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * At most two connections at once, which close 5 s after their last mail. The SMTP client is loaded for the first one.
 */
export function createConnections({ server, secureContext, timeout_ms }: SmtpOptions) {
  const { host, port, secure, auth } = server
  const idle = new Map<Open, NodeJS.Timeout>()
  const waiting: (() => void)[] = []
  let free = max_connections

  async function acquire(): Promise<void> {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
  function release(): void {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  /** Connects, greets and authenticates. */
  async function open(signal: AbortSignal): Promise<Open> {
    const { default: Connection } = await import('nodemailer/lib/smtp-connection')
    const connection = new Connection({
      host,
      port,
      secure,
      connectionTimeout: timeout_ms,
      greetingTimeout: timeout_ms,
      socketTimeout: timeout_ms,
      dnsTimeout: timeout_ms,
      socketCloseTimeout: 1000,
      maxResponseSize: 4 * max_answer_bytes,
      tls: { ...(secureContext && { secureContext }) },
    })
    const stop = () => connection.close()
    signal.addEventListener('abort', stop)
    try {
      await settled(connection, signal, (done) => connection.connect(done))
      const greeting = String(connection.lastServerResponse)
      if (auth) {
        refuseInTheClear(connection)
        await settled(connection, signal, (done) =>
          connection.login({ user: auth.user, pass: auth.pass }, done),
        )
      }
      const one = { connection, has_smtputf8: /^250[ -]SMTPUTF8\b/im.test(greeting) }
      connection.once('end', () => {
        clearTimeout(idle.get(one))
        idle.delete(one)
      })
      return one
    } catch (error) {
      connection.close()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  function takeIdle(): Open | null {
    for (const [one, timer] of idle) {
      clearTimeout(timer)
      idle.delete(one)
      if (!one.connection.destroyed) return one
    }
    return null
  }

  function keep(one: Open): void {
    const drop = () => {
      idle.delete(one)
      one.connection.close()
    }
    const quit = () => {
      idle.delete(one)
      one.connection.quit()
      // A server that does not answer QUIT.
      setTimeout(drop, 1000).unref()
    }
    idle.set(one, setTimeout(quit, idle_ms).unref())
  }

  return {
    acquire,
    release,
    open,
    takeIdle,
    keep,
    close(): void {
      for (const [{ connection }, timer] of idle) {
        clearTimeout(timer)
        connection.close()
      }
      idle.clear()
    },
  }
}

/** Throws before the password is sent without TLS, or to a server without authentication. */
function refuseInTheClear(connection: SMTPConnection): void {
  const address = (connection._socket || null)?.remoteAddress ?? ''
  const is_local = /^(127\.|::1$|::ffff:127\.)/.test(address)
  if (!connection.secure && !is_local)
    throw new SmtpError('auth_error', 'The server offers no TLS, so the user and the password are not sent.')
  if (!connection.allowsAuth)
    throw new SmtpError('auth_error', 'The server offers no authentication, but SMTP_URL has a user.')
}

/** Runs a step of a connection; rejects also when the connection fails or is closed. */
export function settled<T>(
  connection: SMTPConnection,
  signal: AbortSignal,
  step: (done: (error?: Error | null, result?: T) => void) => void,
): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>()
  const onError = (error: Error) => reject(error)
  // The callback of a step may come after this, with the error that says more.
  const onEnd = () =>
    setImmediate(() => reject(new SmtpError('connection_reset', 'The connection was closed.')))
  connection.on('error', onError)
  connection.once('end', onEnd)
  if (signal.aborted) reject(signal.reason)
  else step((error, result) => (error ? reject(error) : resolve(result)))
  return promise.finally(() => {
    connection.removeListener('end', onEnd)
    connection.removeListener('error', onError)
    // A late error of a closed connection is nobody's.
    if (!connection.listenerCount('error')) connection.on('error', () => {})
  })
}
