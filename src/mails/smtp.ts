import { Readable } from 'node:stream'
import type { SecureContext } from 'node:tls'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import { addressOf } from './address.ts'
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
export type AttemptError = { code: ErrorCode; message: string }

/** The outcome of an attempt. It decides what happens to the mail. */
export type Outcome = {
  /** Host and port. */
  server: string
  tls: boolean
  response: { code: number; text: string } | null
  error: AttemptError | null
  /**
   * `later`: it counts against the mail, which is tried again. `unknown`: the same, after the final dot. `refused`: no retry.
   * `server`: it says nothing about the mail. `interrupted`: the caller ended it.
   */
  result: 'sent' | 'later' | 'unknown' | 'refused' | 'server' | 'interrupted'
}

/** A message with its envelope. */
export type Message = { from: string; to: string; bytes: Buffer }

export type SmtpOptions = {
  server: SmtpServer
  /** Replaces the default certificate authorities. */
  secureContext?: SecureContext | undefined
  /** The limit of one answer. */
  timeout_ms: number
}

export type Smtp = ReturnType<typeof createSmtp>

const max_connections = 2
const idle_ms = 5000
const max_answer_bytes = 16 * 1024
// Each of connecting, EHLO, AUTH, MAIL, RCPT, DATA and the final dot has an answer. A server that sends a byte at a time must
// not hold a connection longer than all of them.
const max_answers = 12

type Open = { connection: SMTPConnection; has_smtputf8: boolean }

/** An error with its code: the server's fault before a mail has begun. */
class SmtpError extends Error {
  readonly code: ErrorCode
  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Sends mails over at most two connections, which it closes 5 s after the last mail. The SMTP client is loaded at the first
 * attempt.
 */
export function createSmtp({ server, secureContext, timeout_ms }: SmtpOptions) {
  const { host, port, secure, auth } = server
  const server_name = `${host.includes(':') ? `[${host}]` : host}:${port}`
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

  function refuseInTheClear(connection: SMTPConnection): void {
    const address = (connection._socket || null)?.remoteAddress ?? ''
    const is_local = /^(127\.|::1$|::ffff:127\.)/.test(address)
    if (!connection.secure && !is_local)
      throw new SmtpError(
        'auth_error',
        'The server offers no TLS, so the user and the password are not sent.',
      )
    if (!connection.allowsAuth)
      throw new SmtpError('auth_error', 'The server offers no authentication, but SMTP_URL has a user.')
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

  const outcomeOf = (
    result: Outcome['result'],
    connection: SMTPConnection | null,
    rest: Partial<Pick<Outcome, 'response' | 'error'>>,
  ): Outcome => ({
    server: server_name,
    tls: connection?.secure ?? secure,
    response: null,
    error: null,
    ...rest,
    result,
  })

  async function attempt(message: Message, signal: AbortSignal): Promise<Outcome> {
    let one: Open
    try {
      one = takeIdle() ?? (await open(signal))
    } catch (error) {
      const told = describe(error as SmtpFailure)
      return outcomeOf(signal.aborted ? 'interrupted' : 'server', null, told)
    }
    const { connection, has_smtputf8 } = one
    if (addressOf(message.to)?.needs_utf8 && !has_smtputf8) {
      keep(one)
      const text = 'The server has no SMTPUTF8, which this address needs.'
      return outcomeOf('refused', connection, { error: { code: 'address_unsupported', message: text } })
    }
    // After a drop or a timeout, the error is the same at RCPT, at DATA and after the final dot. The dot is written when the
    // stream of the message has ended.
    let is_written = false
    const stream = Readable.from([message.bytes])
    stream.once('end', () => {
      is_written = true
    })
    const stop = () => connection.close()
    signal.addEventListener('abort', stop)
    try {
      const envelope = { from: message.from, to: [message.to], size: message.bytes.length }
      const info = await settled<{ response?: string }>(connection, signal, (done) =>
        connection.send(envelope, stream, done),
      )
      keep(one)
      return outcomeOf('sent', connection, { response: answerOf(info?.response) })
    } catch (error) {
      connection.close()
      const told = describe(error as SmtpFailure)
      if (signal.aborted) return outcomeOf('interrupted', connection, told)
      return outcomeOf(resultOf(error as SmtpFailure, told.response, is_written), connection, told)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  return {
    server_name,
    /** Attempts a mail. Never throws. `stopping` ends the attempt. */
    async send(message: Message, stopping?: AbortSignal): Promise<Outcome> {
      await acquire()
      const limit = AbortSignal.timeout(max_answers * timeout_ms)
      const signal = stopping ? AbortSignal.any([stopping, limit]) : limit
      try {
        const outcome = await attempt(message, signal)
        if (outcome.result !== 'interrupted' || stopping?.aborted) return outcome
        return {
          ...outcome,
          result: 'later',
          error: { code: 'timeout', message: 'The attempt took too long.' },
        }
      } finally {
        release()
      }
    },
    /** Connects, greets and authenticates, and sends nothing. Null, or what is wrong. */
    async check(): Promise<AttemptError | null> {
      try {
        const { connection } = await open(AbortSignal.timeout(max_answers * timeout_ms))
        connection.quit()
        return null
      } catch (error) {
        return describe(error as SmtpFailure).error
      }
    },
    close(): void {
      for (const [{ connection }, timer] of idle) {
        clearTimeout(timer)
        connection.close()
      }
      idle.clear()
    },
  }
}

type SmtpFailure = Error & { code?: string; originalCode?: string; responseCode?: number; response?: string }

/** Runs a step of a connection; rejects also when the connection fails or is closed. */
function settled<T>(
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

const answerOf = (text: string | undefined): Outcome['response'] => {
  const code = Number(/^\d{3}/.exec(text ?? '')?.[0])
  return text && code ? { code, text: cutBytes(text) } : null
}

const cutBytes = (text: string): string =>
  Buffer.byteLength(text) <= max_answer_bytes
    ? text
    : Buffer.from(text)
        .subarray(0, max_answer_bytes)
        .toString()
        .replace(/\ufffd+$/, '')

const by_system_code: Record<string, ErrorCode> = {
  ENOTFOUND: 'dns_error',
  EAI_AGAIN: 'dns_error',
  EDNS: 'dns_error',
  ECONNREFUSED: 'connection_refused',
  EHOSTUNREACH: 'connection_refused',
  ENETUNREACH: 'connection_refused',
  ETIMEDOUT: 'timeout',
  ETLS: 'tls_error',
  EAUTH: 'auth_error',
  EPROTOCOL: 'protocol_error',
  EENVELOPE: 'protocol_error',
  EMESSAGE: 'protocol_error',
}

function describe(error: SmtpFailure): { response: Outcome['response']; error: AttemptError } {
  const response = answerOf(error.response)
  return {
    response,
    error: { code: codeOf(error, response), message: cutBytes(error.message).slice(0, 1000) },
  }
}

function codeOf(error: SmtpFailure, response: Outcome['response']): ErrorCode {
  if (error instanceof SmtpError) return error.code
  const { code = '', originalCode = '' } = error
  if (code === 'EAUTH') return 'auth_error'
  if (code === 'ETLS' || /CERT|SSL|TLS|SELF_SIGNED|ISSUER/.test(`${code} ${originalCode}`)) return 'tls_error'
  if (response) return response.code < 500 ? 'smtp_4xx' : 'smtp_5xx'
  return by_system_code[originalCode] ?? by_system_code[code] ?? 'connection_reset'
}

/** The meaning of a failed attempt, after its MAIL was sent. */
function resultOf(
  { code = '' }: SmtpFailure,
  response: Outcome['response'],
  is_written: boolean,
): Outcome['result'] {
  // Before the connection closes (RFC 5321, 4.2.1).
  if (response?.code === 421) return 'server'
  if (response) return response.code < 500 ? 'later' : 'refused'
  // The client refuses it: larger than the server takes, or an address that is none.
  if (code === 'EMESSAGE' || code === 'EENVELOPE') return 'refused'
  return is_written ? 'unknown' : 'later'
}
