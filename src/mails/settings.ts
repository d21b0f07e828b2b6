import { delays, integer, type Setting, text } from '../setting.ts'
import { addressOf, type Mailbox } from './address.ts'

const url_form =
  'must be a URL such as smtp://user:password@host:587 or smtps://host:465, with user and password percent-encoded'

/** The SMTP server of SMTP_URL. */
export type SmtpServer = {
  host: string
  port: number
  /** TLS from the first byte. Otherwise, STARTTLS if the server offers it. */
  secure: boolean
  auth: { user: string; pass: string } | null
}

const control = /[\0-\x1f\x7f]/

/** Parses SMTP_URL. Throws an Error without any part of the URL: it may hold a password. */
export function smtpServerOf(value: string): SmtpServer {
  const wrong = () => new Error(url_form)
  const url = URL.parse(value)
  if (!url || !/^smtps?:$/.test(url.protocol) || !/^([\w.-]+|\[[\da-f:.]+\])$/i.test(url.hostname))
    throw wrong()
  if (!/^\/?$/.test(url.pathname) || /[?#]/.test(value)) throw wrong()
  let user: string
  let pass: string
  try {
    user = decodeURIComponent(url.username)
    pass = decodeURIComponent(url.password)
  } catch {
    throw wrong()
  }
  if (control.test(user + pass) || (user === '') !== (pass === '')) throw wrong()
  const secure = url.protocol === 'smtps:'
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
  if (port === 0) throw wrong()
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    secure,
    auth: user === '' ? null : { user, pass },
  }
}

/** Parses `crm@example.com` or `Acme <crm@example.com>`. Throws an Error that says what is valid. */
export function mailboxOf(value: string): Mailbox {
  const [, quoted, plain, bracketed] = /^(?:"([^"\\]*)"|([^<>"]*))\s*<([^<>]*)>$/.exec(value) ?? []
  const address = addressOf(bracketed ?? value)
  const name = (quoted ?? plain ?? '').trim()
  if (!address || control.test(name))
    throw new Error('must be an address such as crm@example.com or Acme <crm@example.com>')
  return { name, address: address.text }
}

const smtpUrl = (value: string) => {
  if (!value) return null
  smtpServerOf(value)
  return value
}
const sender = (value: string) => {
  if (!value) return null
  mailboxOf(value)
  return value
}
const oneAddress = (value: string) => {
  if (!value) return null
  if (!addressOf(value)) throw new Error('must be one address such as help@example.com')
  return value
}

export const mailSettings = {
  smtp_url: {
    secret: true,
    about: 'SMTP server, as smtp://user:password@host:587 or smtps://…:465; empty: no mail is sent',
    parse: smtpUrl,
  },
  mail_from: {
    about: 'sender of mails, such as Acme <crm@example.com>; needed with SMTP_URL',
    parse: sender,
  },
  mail_reply_to: { about: 'address for replies to mails', parse: oneAddress },
  smtp_ca_file: {
    about: 'file of certificate authorities (PEM) that the SMTP server may have beside the public ones',
    parse: text,
  },
  smtp_timeout_ms: {
    fallback: '30000',
    about: 'limit of one answer of the SMTP server',
    parse: integer(1000, 300_000),
  },
  mail_retry_delays: {
    fallback: '60,300,1800,7200,28800,86400',
    about: 'seconds before each retry of a mail, or none',
    parse: delays,
  },
  mail_log_days: {
    fallback: '30',
    about: 'days that finished mails stay in the log',
    parse: integer(1, 36_500),
  },
} satisfies Record<string, Setting<unknown>>

type Values = {
  smtp_url: string | null
  mail_from: string | null
  public_url: string | null
  host: string
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')

/** Settings of mails that are valid by themselves and do not fit together. */
export function mailProblems({ smtp_url, mail_from, public_url, host }: Values): string[] {
  if (smtp_url === null) return []
  return [
    ...(mail_from === null
      ? ['MAIL_FROM is needed with SMTP_URL: set it to an address such as crm@example.com.']
      : []),
    ...(public_url === null && !isLoopback(host)
      ? [
          'PUBLIC_URL is needed with SMTP_URL, because mails have links and HOST lets others in: set it to an address such as https://crm.example.com.',
        ]
      : []),
  ]
}
