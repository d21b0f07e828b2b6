import { foldedLines } from '../icalendar/event.ts'
import type { Mailbox } from './address.ts'
import { addressOf } from './address.ts'
import type { Claim } from './claim.ts'
import { unsubscribe_path, withTokens } from './render.ts'
import type { Message } from './smtp.ts'

type Sender = { from: Mailbox; reply_to: string | null }
type Secrets = {
  tokens: readonly string[] | null
  /** The token of the link to unsubscribe; null for a mail without one. */
  unsubscribe: string | null
  base: string
}

/** Makes the message of a mail. Loads the library at the first one. */
export async function compose(
  mail: Claim,
  { from, reply_to }: Sender,
  { tokens, unsubscribe, base }: Secrets,
): Promise<Message> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const to = addressOf(mail.recipient)?.text ?? mail.recipient
  const { calendar } = mail
  const headers: Record<string, string> = { 'Auto-Submitted': 'auto-generated' }
  if (unsubscribe !== null) {
    headers['List-Unsubscribe'] = `<${base}${unsubscribe_path}${unsubscribe}>`
    headers['List-Unsubscribe-Post'] = 'List-Unsubscribe=One-Click'
  }
  const composed = new MailComposer({
    from,
    to: { name: '', address: to },
    ...(reply_to !== null && { replyTo: reply_to }),
    subject: mail.subject,
    text: withTokens(mail.text, tokens, unsubscribe),
    html: withTokens(mail.html, tokens, unsubscribe),
    date: new Date(mail.created_at),
    messageId: mail.message_id,
    headers,
    ...(calendar !== null && {
      icalEvent: {
        method: mail.calendar_method ?? 'PUBLISH',
        content: foldedLines(withTokens(calendar, tokens)),
        filename: 'invite.ics',
      },
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const bytes = await composed.compile().build()
  return { from: from.address, to, bytes }
}
