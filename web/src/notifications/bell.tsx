import { BellIcon } from '@primer/octicons-react'
import { Link } from '../app/link.ts'
import { useTexts } from '../texts/texts.ts'
import { shownCount, useUnreadCount } from './unread.ts'
import './bell.css'

/** The link to the notifications, with the number of unread ones. */
export function Bell({ collapsed }: { collapsed: boolean }) {
  const t = useTexts()
  const unread = useUnreadCount()
  const label = t.notifications.title_with({ unread })
  return (
    <Link
      to="/notifications"
      className="rail-link bell"
      aria-label={label}
      title={collapsed ? label : undefined}
      activeProps={{ 'aria-current': 'page' }}
    >
      <BellIcon />
      {!collapsed && <span>{t.notifications.title}</span>}
      {unread > 0 && <span className="bell-count numbers" aria-hidden data-count={shownCount(unread)} />}
    </Link>
  )
}

/** On a phone, a mark on the menu that has the notifications, if some are unread. */
export function UnreadMark() {
  const t = useTexts()
  const unread = useUnreadCount()
  if (!unread) return null
  return (
    <>
      <span className="bell-mark" aria-hidden />
      <span className="unseen">{t.notifications.title_with({ unread })}</span>
    </>
  )
}
