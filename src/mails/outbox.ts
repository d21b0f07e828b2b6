import { newId } from '../db/ids.ts'
import { prepareInsert } from '../db/statements/recordset.ts'
import type { Tx } from '../db/tx.ts'
import type { Context } from '../events/context.ts'
import { addressKey, addressOf, domainOf } from './address.ts'
import { kindOf, type MailKind } from './kinds.ts'
import { type Mailing, mailingOf } from './mailing.ts'
import { tellManagers } from './record.ts'
import { type Content, render } from './render.ts'
import { type Language, mailTexts } from './texts.ts'
import { type Unsubscribed, unsubscribeSubject } from './unsubscribing.ts'

/** A mail to one recipient. */
export type NewMail = {
  kind: MailKind
  recipient: string
  /** The member; null for others. */
  user_id?: string | null
  /** The visitor, or the contact that the text names. */
  contact_id?: number | null
  record?: { kind: string; id: number | string } | null
  language: Language
  /** Makes the text. Links begin with `base`, and have tokenMark(0) in place of the first token. */
  content: (base: string) => Content
  /** Makes its calendar file, in lines that are not folded. Links as in the text. */
  calendar?: (base: string) => { method: string; file: string }
  /** The secrets of its links. */
  tokens?: readonly string[]
  /** The mails that its link to unsubscribe switches off. */
  unsubscribe?: Unsubscribed
  /** Until when a finished mail keeps them, ISO 8601. By default it keeps none. */
  tokens_until?: string
  /** From this time, ISO 8601, nobody needs the mail. */
  useless_at?: string
  /** Why it is written and not sent. */
  not_sent?: 'limit'
}

/** The lease of a mail that the caller attempts itself, once. */
export type OwnLease = { claim_id: string; ends_ms: number }

/** How long a mail may be pending. */
const longest_ms = 72 * 3_600_000

const insert = prepareInsert('mails', {
  id: 'text!',
  workspace_id: 'bigint!',
  kind: 'text!',
  status: 'text!',
  reason: 'text',
  recipient: 'text!',
  recipient_key: 'text!',
  user_id: 'text',
  contact_id: 'bigint',
  record_kind: 'text',
  record_id: 'text',
  subject: 'text!',
  language: 'text!',
  text: 'text!',
  html: 'text!',
  tokens: 'text',
  tokens_until: 'text',
  calendar: 'text',
  calendar_method: 'text',
  unsubscribe: 'text',
  message_id: 'text!',
  urgency: 'bigint!',
  run_at_ms: 'bigint',
  expires_ms: 'bigint!',
  useless_at: 'text',
  is_single: 'bigint!',
  claim_id: 'text',
  claimed_at_ms: 'bigint',
  created_at: 'text!',
  finished_at: 'text',
})

/**
 * Writes a mail in the transaction of its cause, and returns its id. A mail that cannot be sent is written too, with the
 * reason; so the log has every mail that somebody may miss. Null in a command, which has no settings of mails.
 */
export function writeMail(tx: Tx, context: Context, mail: NewMail, lease?: OwnLease): string | null {
  const mailing = mailingOf(tx)
  if (!mailing) return null
  const row = rowOf(mailing, context, mail, lease)
  tx.rows(insert, [row])
  announce(tx, context, [row])
  return row.id
}

/** The same for several mails, which are written together and at once. */
export async function writeMails(tx: Tx, context: Context, mails: readonly NewMail[]): Promise<void> {
  const mailing = mailingOf(tx)
  if (!mailing || !mails.length) return
  const rows = mails.map((mail) => rowOf(mailing, context, mail))
  await insert(tx, rows)
  announce(tx, context, rows)
}

type MailRow = ReturnType<typeof rowOf>

/** Wakes the senders, and tells of a mail that nobody can send. */
function announce(tx: Tx, context: Context, rows: readonly MailRow[]): void {
  if (rows.some(({ status, is_single }) => status === 'pending' && !is_single)) tx.announce('mails')
  const failed = rows.find(({ status, is_single }) => status === 'failed' && !is_single)
  if (failed) tellManagers(tx, failed, context)
}

function rowOf(mailing: Mailing, context: Context, mail: NewMail, lease?: OwnLease) {
  const { workspace_id, now } = context
  const { kind, recipient, language, tokens, record } = mail
  const id = newId('mail')
  const { status, reason } = beginningOf(mailing, mail)
  const is_pending = status === 'pending'
  const elapsed_ms = context.elapsed()
  const calendar = mail.calendar?.(mailing.base())
  const keeps_tokens = tokens !== undefined && (is_pending || mail.tokens_until !== undefined)
  return {
    id,
    workspace_id,
    kind,
    status,
    reason,
    recipient,
    recipient_key: addressKey(recipient),
    user_id: mail.user_id ?? null,
    contact_id: mail.contact_id ?? null,
    record_kind: record?.kind ?? null,
    record_id: record ? String(record.id) : null,
    ...render(mail.content(mailing.base()), language, mailTexts(language).cut),
    language,
    tokens: keeps_tokens ? mailing.seal.seal(JSON.stringify(tokens)) : null,
    tokens_until: mail.tokens_until ?? null,
    calendar: calendar?.file ?? null,
    calendar_method: calendar?.method ?? null,
    unsubscribe: mail.unsubscribe ? unsubscribeSubject(mail.unsubscribe) : null,
    message_id: `<${id}@${domainOf(mailing.address)}>`,
    urgency: kindOf(kind).urgency,
    run_at_ms: is_pending ? (lease?.ends_ms ?? elapsed_ms) : null,
    expires_ms: elapsed_ms + longest_ms,
    useless_at: mail.useless_at ?? null,
    is_single: lease ? 1 : 0,
    claim_id: (is_pending && lease?.claim_id) || null,
    claimed_at_ms: is_pending && lease ? elapsed_ms : null,
    created_at: now,
    finished_at: is_pending ? null : now,
  }
}

/** The status with which a mail is written. */
function beginningOf({ configured }: Mailing, { recipient, not_sent }: NewMail) {
  if (!configured) return { status: 'not_sent', reason: 'no_smtp' } as const
  if (not_sent) return { status: 'not_sent', reason: not_sent } as const
  if (!addressOf(recipient)) return { status: 'failed', reason: 'address_unsupported' } as const
  return { status: 'pending', reason: null } as const
}
