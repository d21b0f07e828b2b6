import type { Config } from '../config.ts'
import type { Seal } from '../db/seal.ts'
import { trusted } from '../http/authorities.ts'
import { createMailer, type Mailer, type MailerOptions } from './mailer.ts'
import type { Mailing } from './mailing.ts'
import { mailboxOf, smtpServerOf } from './settings.ts'
import { createSmtp, type Smtp } from './smtp.ts'

type Settings = Pick<
  Config,
  'smtp_url' | 'mail_from' | 'mail_reply_to' | 'smtp_ca_file' | 'smtp_timeout_ms' | 'mail_retry_delays'
>

/** The domain of Message-IDs of mails that are written without SMTP_URL. */
const no_sender = 'rapport@localhost.invalid'

/** The needs of transactions that write mails. */
export const createMailing = (
  { smtp_url, mail_from }: Pick<Settings, 'smtp_url' | 'mail_from'>,
  seal: Seal,
  rest: Pick<Mailing, 'mac' | 'base' | 'mailNotices'>,
): Mailing => ({
  configured: smtp_url !== null,
  seal,
  address: mail_from === null ? no_sender : mailboxOf(mail_from).address,
  ...rest,
})

/** The connections to the SMTP server of the settings; null without one. Throws if SMTP_CA_FILE cannot be used. */
export function openSmtp({ smtp_url, smtp_ca_file, smtp_timeout_ms }: Settings): Smtp | null {
  if (smtp_url === null) return null
  const secureContext = trusted('SMTP_CA_FILE', smtp_ca_file)
  return createSmtp({ server: smtpServerOf(smtp_url), secureContext, timeout_ms: smtp_timeout_ms })
}

/** The mailer of the settings; null without an SMTP server. */
export function openMailer(
  settings: Settings,
  deps: Pick<MailerOptions, 'db' | 'clock' | 'seal' | 'mailing' | 'onError'>,
): Mailer | null {
  const smtp = openSmtp(settings)
  const { mail_from, mail_reply_to, mail_retry_delays } = settings
  if (!smtp || mail_from === null) return null
  const from = mailboxOf(mail_from)
  return createMailer({ ...deps, from, reply_to: mail_reply_to, retry_delays: mail_retry_delays, smtp })
}

/** The settings without the user and the password. */
export function mailSettingsShown({
  smtp_url,
  mail_from,
  mail_reply_to,
}: Pick<Settings, 'smtp_url' | 'mail_from' | 'mail_reply_to'>) {
  const server = smtp_url === null ? null : smtpServerOf(smtp_url)
  return {
    host: server?.host ?? null,
    port: server?.port ?? null,
    from: mail_from,
    reply_to: mail_reply_to,
  }
}
