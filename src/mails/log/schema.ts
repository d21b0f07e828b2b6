import { type Static, Type } from 'typebox'
import {
  Body,
  Email,
  IntegerOrNull,
  nullableObject,
  OptionalText,
  OptionalTimestamp,
  Timestamp,
  Titled,
} from '../../http/fields.ts'
import { mail_kinds } from '../kinds.ts'

export const mail_statuses = ['pending', 'sent', 'failed', 'cancelled', 'not_sent'] as const

const code = Type.String({ examples: ['smtp_4xx'] })
const mail = {
  id: Type.String({ examples: ['mail_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  kind: Type.Unsafe<string>({ type: 'string', enum: mail_kinds }),
  status: Type.Unsafe<(typeof mail_statuses)[number]>({
    type: 'string',
    enum: [...mail_statuses],
    description:
      'sent: the SMTP server accepted it. cancelled: it became useless before it was sent. not_sent: nothing waits to send it.',
  }),
  reason: OptionalText(255, {
    description: 'Why it is failed (the code of the last error), cancelled or not_sent: no_smtp or limit.',
  }),
  recipient: Type.String({ description: 'Empty after an erasure.', examples: ['ana.ruiz@example.com'] }),
  user_id: OptionalText(64, { description: 'The member; null for others.' }),
  record: nullableObject(
    Type.Object({
      kind: Type.String({ examples: ['appointments'] }),
      id: Type.Unsafe<string | number>({ type: ['string', 'integer'] }),
    }),
  ),
  subject: Type.String({ examples: ['Test mail from Rapport'] }),
  language: Type.String({ examples: ['en'] }),
  attempt_count: Type.Integer({ description: 'Without interrupted attempts.' }),
  next_attempt_at: OptionalTimestamp({ description: 'Null during an attempt, and when it is finished.' }),
  created_at: Timestamp(),
  finished_at: OptionalTimestamp(),
}

export const Mail = Titled('Mail', mail)
export type Mail = Static<typeof Mail>

const MailAttempt = Titled('MailAttempt', {
  number: Type.Integer({ minimum: 1 }),
  started_at: Timestamp(),
  duration_ms: Type.Integer(),
  server: Type.String({ description: 'Host and port.', examples: ['smtp.example.com:587'] }),
  tls: Type.Boolean(),
  response: nullableObject(
    Type.Object({
      code: Type.Integer({ examples: [250] }),
      text: Type.String({ examples: ['250 2.0.0 Ok'] }),
    }),
  ),
  error: nullableObject(Type.Object({ code, message: Type.String() })),
})

export const MailDetail = Titled('MailDetail', {
  ...mail,
  message_id: Type.String({ examples: ['<mail_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b@example.com>'] }),
  text: Type.String({ description: 'The plain text. Tokens of links are shown as `***`.' }),
  has_calendar: Type.Boolean(),
  attempts: Type.Array(MailAttempt),
})
export type MailDetail = Static<typeof MailDetail>
export const MailParams = Type.Object({ mail_id: Type.String() })
export const TestBody = Body({ recipient: Email({ description: 'The address of a member.' }) })

export const MailServer = Titled('MailServer', {
  configured: Type.Boolean({ description: 'Whether SMTP_URL is set.' }),
  host: OptionalText(255),
  port: IntegerOrNull(),
  from: OptionalText(255),
  reply_to: OptionalText(255),
  status: Type.Unsafe<'off' | 'unknown' | 'ok' | 'failing'>({
    type: 'string',
    enum: ['off', 'unknown', 'ok', 'failing'],
    description: 'unknown: nothing was sent yet. failing: it cannot be reached, or refuses all mails.',
  }),
  last_success_at: OptionalTimestamp(),
  last_error: nullableObject(Type.Object({ code, message: Type.String(), occurred_at: Timestamp() })),
})
export type MailServer = Static<typeof MailServer>
