import { type Content, oneLine, tokenMark, unsubscribe_mark, unsubscribe_path } from './render.ts'
import { type Language, mailTexts } from './texts.ts'
import { momentText, type Reader } from './when.ts'

// The texts of mails, by their kind. All of them are pure: they run in the transaction of the cause.

export function testMail(reader: Reader, now_ms: number): Content {
  const t = mailTexts(reader.language)
  return {
    subject: t.test.subject,
    blocks: [
      { text: t.test.text },
      { facts: [[t.test.sent_at, momentText(now_ms, reader)]] },
      { text: t.sent_by_service },
    ],
  }
}

type Invited = { person: string | null; workspace: string; role: string; expires_at: string }

export function invitationMail(
  reader: Reader,
  base: string,
  { person, workspace, role, expires_at }: Invited,
): Content {
  const t = mailTexts(reader.language).invitation
  const shown_role = role === 'owner' || role === 'admin' || role === 'read_only' ? role : 'other'
  const names = { workspace: oneLine(workspace), role: shown_role } as const
  const by = person === null ? null : { ...names, person: oneLine(person) }
  return {
    subject: by ? t.subject(by) : t.subject_by_key(names),
    blocks: [
      { text: by ? t.text(by) : t.text_by_key(names) },
      { link: { label: t.accept, url: `${base}/invitation#${tokenMark(0)}` } },
      { text: t.until({ time: momentText(Date.parse(expires_at), reader) }) },
    ],
  }
}

/** A link for each account, in the order of the tokens. */
export function resetMail(language: Language, base: string, names: readonly string[]): Content {
  const t = mailTexts(language).password_reset
  const several = names.length > 1
  return {
    subject: t.subject,
    blocks: [
      { text: t.text },
      ...(several ? [{ text: t.several({ n: names.length }) }] : []),
      ...names.map((name, n) => ({
        link: {
          label: several ? t.set_for({ account: oneLine(name) }) : t.set,
          url: `${base}/reset#${tokenMark(n)}`,
        },
      })),
      { text: t.until },
    ],
  }
}

type SignIn = { at_ms: number; user_agent: string | null; address: string | null }

export function signInMail(reader: Reader, base: string, { at_ms, user_agent, address }: SignIn): Content {
  const t = mailTexts(reader.language).new_sign_in
  const facts: [string, string][] = [
    [t.when, momentText(at_ms, reader)],
    ...(user_agent ? [[t.browser, oneLine(user_agent).slice(0, 200)] as [string, string]] : []),
    ...(address ? [[t.address, oneLine(address)] as [string, string]] : []),
  ]
  return {
    subject: t.subject,
    blocks: [
      { text: t.text },
      { facts },
      { text: t.advice },
      { link: { label: t.open, url: `${base}/settings/profile` } },
    ],
  }
}

export type NoticeKind = 'assigned' | 'mentioned' | 'webhook_failed' | 'import_ended'
type Notice = {
  kind: NoticeKind
  /** Null for a record that is not there. */
  title: string | null
  actor: { kind: string; name: string | null }
  records: number
  outcome: string | null
  path: string
}

/** The mail of a notification. */
export function noticeMail(
  language: Language,
  base: string,
  { kind, title, actor, records, outcome, path }: Notice,
): Content {
  const t = mailTexts(language)
  const by_kind =
    actor.kind === 'service' ? t.actor.service : actor.kind === 'visitor' ? t.actor.visitor : null
  const names = {
    title: title === null ? t.untitled : oneLine(title),
    actor: oneLine(actor.name ?? by_kind ?? t.actor.somebody),
  }
  const result = outcome === 'succeeded' || outcome === 'cancelled' ? outcome : 'other'
  const texts = {
    assigned: [t.assigned.subject({ n: records, ...names }), t.assigned.text({ n: records, ...names })],
    mentioned: [t.mentioned.subject(names), t.mentioned.text(names)],
    webhook_failed: [t.webhook_failed.subject, t.webhook_failed.text],
    import_ended: [t.import_ended.subject({ outcome: result }), t.import_ended.text({ outcome: result })],
  }
  const [subject = '', text = ''] = texts[kind]
  return {
    subject,
    blocks: [
      { text: title === null ? text : `${text}\n${oneLine(title)}` },
      { link: { label: t.open, url: base + path } },
      { link: { label: t.unsubscribe, url: `${base}${unsubscribe_path}${unsubscribe_mark}` } },
    ],
  }
}
