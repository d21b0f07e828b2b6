import {
  type Icon,
  MailIcon,
  MentionIcon,
  PersonAddIcon,
  UploadIcon,
  WebhookIcon,
} from '@primer/octicons-react'
import type { Target } from '../app/addresses.ts'
import { Link } from '../app/link.ts'
import { whoOf } from '../record/fields/changes.tsx'
import { useKinds } from '../record/kinds.ts'
import { place, useTexts } from '../texts/texts.ts'
import { focusBeside } from '../ui/focus.ts'
import { Ago } from '../ui/values.tsx'
import { visible } from '../ui/visible.ts'
import type { Notification } from './notifications-page.tsx'

const icons: Record<string, Icon> = {
  assigned: PersonAddIcon,
  mentioned: MentionIcon,
  webhook_failed: WebhookIcon,
  import_ended: UploadIcon,
  mail_failed: MailIcon,
}

/** A notification as a sentence that links to its record. Following the link marks it as read. */
export function NotificationRow({
  notification,
  onRead,
}: {
  notification: Notification
  onRead: () => void
}) {
  const t = useTexts()
  const { kind, occurred_at, read_at } = notification
  const KindIcon = icons[kind] ?? MentionIcon
  const [before = '', after = ''] = useSentence(notification).split(place)
  const { name, detail, target } = useTarget(notification)
  const unread = read_at === null
  return (
    <li ref={focusBeside} className="notification" data-unread={unread || undefined}>
      <span className="notification-icon" aria-hidden>
        <KindIcon />
      </span>
      <span className="notification-text">
        {unread && <span className="unseen">{t.notifications.unread} </span>}
        {before}
        {target ? (
          <Link {...target} data-notification onClick={() => unread && onRead()}>
            {name}
          </Link>
        ) : (
          <b>{name}</b>
        )}
        {after}
        {detail && <span className="soft"> · {detail}</span>}
      </span>
      <span className="notification-at">
        <Ago at={occurred_at} />
      </span>
      {unread ? (
        <button
          ref={focusBeside}
          type="button"
          className="icon-button notification-dot"
          title={t.notifications.read}
          aria-label={t.notifications.read_one({ name })}
          onClick={onRead}
        />
      ) : (
        <span className="notification-dot" aria-hidden />
      )}
    </li>
  )
}

/** The sentence with the place of the record. */
function useSentence({ kind, actor, note_id, outcome }: Notification): string {
  const t = useTexts()
  const { sentences, ended } = t.notifications
  const who = whoOf(actor, t)
  if (kind === 'import_ended') return ended[outcome ?? 'succeeded']({ who, record: place })
  // The text of an activity has no note.
  const told = kind === 'mentioned' && note_id === null ? 'mentioned_in' : kind
  return sentences[told]({ who, record: place })
}

type Shown = { name: string; detail: string | null; target: Target | null }

/** The name of the record or of the records, more about them, and where they are. */
function useTarget({ record, records, kind, note_id }: Notification): Shown {
  const t = useTexts()
  const kinds = useKinds()
  const { id, title } = record
  const gone = title === null
  const name = gone ? t.notifications.deleted : visible(title)
  if (record.kind === 'webhooks') {
    const detail = records > 1 ? t.notifications.times({ count: records }) : null
    return { name, detail, target: gone ? null : { to: `/settings/webhooks/${id}` } }
  }
  if (record.kind === 'mails') {
    const detail = records > 1 ? t.notifications.times({ count: records }) : null
    return { name, detail, target: gone ? null : { to: `/settings/mail/${id}` } }
  }
  if (record.kind === 'imports')
    return {
      name: name || t.notifications.unnamed_import,
      detail: null,
      target: gone ? null : { to: `/settings/imports/${id}` },
    }
  const { path } = kinds[record.kind as keyof typeof kinds]
  const { one, counted } = t.kinds[record.kind as keyof typeof kinds]
  if (kind === 'assigned' && records > 1)
    return {
      name: counted({ n: records }),
      detail: null,
      target: { to: path, search: { owner_id: 'me' } },
    }
  const search = note_id ? { tab: 'notes', note: String(note_id) } : {}
  return { name, detail: one, target: gone ? null : { to: `${path}/${Number(id)}`, search } }
}
