import { Readable } from 'node:stream'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import { addressOf } from './address.ts'
import {
  createConnections,
  type ErrorCode,
  max_answer_bytes,
  type Open,
  SmtpError,
  type SmtpOptions,
  settled,
} from './connections.ts'

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

export type Smtp = ReturnType<typeof createSmtp>

// Each of connecting, EHLO, AUTH, MAIL, RCPT, DATA and the final dot has an answer. A server that sends a byte at a time must
// not hold a connection longer than all of them.
const max_answers = 12

/** Sends mails, and says what each attempt came to. */
export function createSmtp(options: SmtpOptions) {
  const { host, port, secure } = options.server
  const server_name = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const connections = createConnections(options)
  const longest = () => AbortSignal.timeout(max_answers * options.timeout_ms)

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

  async function attempt(
    message: Message,
    signal: AbortSignal,
    idle: Open | null = connections.takeIdle(),
  ): Promise<Outcome> {
    let one: Open
    try {
      one = idle ?? (await connections.open(signal))
    } catch (error) {
      const told = describe(error as SmtpFailure)
      return outcomeOf(signal.aborted ? 'interrupted' : 'server', null, told)
    }
    const { connection, has_smtputf8 } = one
    if (addressOf(message.to)?.needs_utf8 && !has_smtputf8) {
      connections.keep(one)
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
      connections.keep(one)
      return outcomeOf('sent', connection, { response: answerOf(info?.response) })
    } catch (error) {
      connection.close()
      const told = describe(error as SmtpFailure)
      if (signal.aborted) return outcomeOf('interrupted', connection, told)
      // A server may end a connection between two mails. That says nothing about this one, which it cannot have yet.
      const has_ended = told.response?.code === 421 || told.error.code === 'connection_reset'
      if (idle && has_ended && !is_written) return await attempt(message, signal, null)
      return outcomeOf(resultOf(error as SmtpFailure, told.response, is_written), connection, told)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  return {
    server_name,
    /** Attempts a mail. Never throws. `stopping` ends the attempt. */
    async send(message: Message, stopping?: AbortSignal): Promise<Outcome> {
      await connections.acquire()
      const limit = longest()
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
        connections.release()
      }
    },
    /** Connects, greets and authenticates, and sends nothing. Null, or what is wrong. */
    async check(): Promise<AttemptError | null> {
      try {
        const { connection } = await connections.open(longest())
        connection.quit()
        return null
      } catch (error) {
        return describe(error as SmtpFailure).error
      }
    },
    close: connections.close,
  }
}

type SmtpFailure = Error & { code?: string; originalCode?: string; responseCode?: number; response?: string }

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
  { code = '', response: said }: SmtpFailure,
  response: Outcome['response'],
  is_written: boolean,
): Outcome['result'] {
  // Before the connection closes (RFC 5321, 4.2.1).
  if (response?.code === 421) return 'server'
  if (response) return response.code < 500 ? 'later' : 'refused'
  // The client refuses it: larger than the server takes, or an address that is none. An answer without a code says nothing.
  if (!said && (code === 'EMESSAGE' || code === 'EENVELOPE')) return 'refused'
  return is_written ? 'unknown' : 'later'
}
