import { dateOf, timeOf, zoneName } from '../booking-site/days.ts'
import { type Content, oneLine, tokenMark, unsubscribe_mark, unsubscribe_path } from './render.ts'
import { type Language, mailTexts } from './texts.ts'
import { momentText, type Reader, readerOf } from './when.ts'

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
type Told = {
  kind: NoticeKind
  /** Null for a record that is not there. */
  title: string | null
  actor: { kind: string; name: string | null }
  records: number
  outcome: string | null
}
type Notice = Told & { path: string }

/** The subject and the text of a notification. */
function noticeTexts(language: Language, { kind, title, actor, records, outcome }: Told): [string, string] {
  const t = mailTexts(language)
  const by_kind =
    actor.kind === 'service' ? t.actor.service : actor.kind === 'visitor' ? t.actor.visitor : null
  const names = {
    title: title === null ? t.untitled : oneLine(title),
    actor: oneLine(actor.name ?? by_kind ?? t.actor.somebody),
  }
  const result = outcome === 'succeeded' || outcome === 'cancelled' ? outcome : 'other'
  const texts: Record<NoticeKind, [string, string]> = {
    assigned: [t.assigned.subject({ n: records, ...names }), t.assigned.text({ n: records, ...names })],
    mentioned: [t.mentioned.subject({ n: records, ...names }), t.mentioned.text({ n: records, ...names })],
    webhook_failed: [t.webhook_failed.subject, t.webhook_failed.text],
    import_ended: [t.import_ended.subject({ outcome: result }), t.import_ended.text({ outcome: result })],
  }
  return texts[kind]
}

/** The mail of a notification. */
export function noticeMail(language: Language, base: string, notice: Notice): Content {
  const t = mailTexts(language)
  const [subject, text] = noticeTexts(language, notice)
  const { title, path } = notice
  return {
    subject,
    blocks: [
      { text: title === null ? text : `${text}\n${oneLine(title)}` },
      { link: { label: t.open, url: base + path } },
      { link: { label: t.unsubscribe, url: `${base}${unsubscribe_path}${unsubscribe_mark}` } },
    ],
  }
}

type Item = { at: string; title: string; notice?: Omit<Told, 'kind'> & { kind: NoticeKind | 'mail_failed' } }
/** The parts of a digest, with their first items and the number of all. */
export type Digest = {
  day: string
  parts: { name: 'appointments' | 'overdue' | 'today' | 'notifications'; items: Item[]; total: number }[]
}

export function digestMail(reader: Reader, base: string, { day, parts }: Digest): Content {
  const { language } = reader
  const t = mailTexts(language)
  const by = readerOf(reader)
  const lineOf = (name: Digest['parts'][number]['name'], { at, title, notice }: Item): string => {
    if (notice?.kind === 'mail_failed') return t.digest.mail_failed
    if (notice) return noticeTexts(language, { ...notice, kind: notice.kind })[0]
    const at_ms = Date.parse(at)
    return `${name === 'overdue' ? dateOf(at_ms, by) : timeOf(at_ms, by)} ${oneLine(title)}`
  }
  const heads = {
    appointments: t.digest.appointments,
    overdue: t.digest.overdue,
    today: t.digest.today,
    notifications: t.digest.notifications,
  }
  const shown = parts.filter(({ total }) => total > 0)
  return {
    subject: t.digest.subject({ day: dateOf(Date.parse(`${day}T12:00Z`), { ...by, zone: 'UTC' }) }),
    blocks: [
      ...shown.flatMap(({ name, items, total }) => [
        { text: heads[name]({ n: total }) },
        {
          list: [
            ...items.map((item) => lineOf(name, item)),
            ...(total > items.length ? [t.digest.more({ n: total - items.length })] : []),
          ],
        },
      ]),
      { text: t.digest.zone({ zone: zoneName(by.zone) }) },
      { link: { label: t.digest.open, url: `${base}/` } },
      { link: { label: t.unsubscribe, url: `${base}${unsubscribe_path}${unsubscribe_mark}` } },
    ],
  }
}
