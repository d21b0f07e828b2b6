import { Button, SegmentedControl, Skeleton } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, type Schemas } from '../api/client.ts'
import { readAgain } from '../api/read-again.ts'
import { useCommands } from '../app/commands.ts'
import { type Formats, useFormats } from '../app/formats.ts'
import { ProblemNote, showProblem } from '../app/problems.tsx'
import { growing, usePages } from '../record/pages.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { focusBeside } from '../ui/focus.ts'
import { useAddress } from '../ui/list-view.ts'
import { Page } from '../ui/page.tsx'
import { NotificationRow } from './notification-row.tsx'
import { useUnreadCount } from './unread.ts'
import './notifications.css'

export type Notification = Schemas['Notification']
type Read = { ids: number[] } | { all: true; before: string }

/** The notifications of the person by day, newest first. */
export function NotificationsPage() {
  const t = useTexts()
  const client = useQueryClient()
  const unread = useUnreadCount()
  const { address, change } = useAddress()
  const only_unread = address.unread === 'true'
  const [reading, setReading] = useState(false)
  const { data, error, refetch, more, loading_more, readMore } = usePages({
    queryKey: ['notifications', 'list', only_unread],
    read: (cursor, nth, signal) => {
      const query = { cursor, per_page: growing(25, nth), ...(only_unread && { unread: 'true' as const }) }
      return answerOf(api.GET('/api/v1/notifications', { params: { query }, signal }))
    },
  })
  const all = data?.pages.flatMap((page) => page.data) ?? []
  async function markRead(body: Read) {
    try {
      await answerOf(api.POST('/api/v1/notifications/read', { body }))
      await readAgain(client, ['notifications'])
    } catch (problem) {
      showProblem(problem, t)
    }
  }
  async function markAll() {
    const [newest] = all
    if (!newest) return
    setReading(true)
    // Notifications that arrive meanwhile stay unread.
    await markRead({ all: true, before: newest.occurred_at })
    setReading(false)
  }
  const filter = (
    <SegmentedControl
      size="xs"
      aria-label={t.notifications.show}
      value={only_unread ? 'unread' : 'all'}
      onChange={(shown) => change({ unread: shown === 'unread' ? 'true' : null }, true)}
      data={[
        { value: 'all', label: t.notifications.all },
        { value: 'unread', label: t.notifications.only_unread },
      ]}
    />
  )
  const action = unread > 0 && (
    <Button ref={focusBeside} variant="default" loading={reading} onClick={markAll}>
      {t.notifications.read_all}
    </Button>
  )
  return (
    <Page title={t.notifications.title} count={unread || undefined} middle={filter} actions={action}>
      {error && !data ? (
        <ProblemNote error={error} onRetry={() => refetch()} />
      ) : data ? (
        <List
          all={all}
          none={only_unread ? t.notifications.none_unread : t.notifications.none}
          onRead={(id) => markRead({ ids: [id] })}
        />
      ) : (
        <Placeholder />
      )}
      {more && (
        <div className="notifications">
          <Button variant="default" loading={loading_more} onClick={readMore}>
            {t.notifications.older}
          </Button>
        </div>
      )}
    </Page>
  )
}

type ListProps = { all: readonly Notification[]; none: string; onRead: (id: number) => void }

function List({ all, none, onRead }: ListProps) {
  const t = useTexts()
  const formats = useFormats()
  useRowKeys()
  if (!all.length) return <Empty text={none} />
  const days = new Map<string, Notification[]>()
  for (const one of all) {
    const day = dayOf(one.occurred_at, formats, t)
    days.set(day, [...(days.get(day) ?? []), one])
  }
  return (
    <div className="notifications">
      {[...days].map(([day, of_day]) => (
        <section key={day} aria-label={day}>
          <h2>{day}</h2>
          <ul>
            {of_day.map((one) => (
              <NotificationRow key={one.id} notification={one} onRead={() => onRead(one.id)} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

/** j and k go through the links of the list. */
function useRowKeys() {
  const t = useTexts()
  function go(step: number) {
    const links = [...document.querySelectorAll<HTMLElement>('[data-notification]')]
    const row = document.activeElement?.closest('li')
    const at = links.findIndex((link) => row?.contains(link))
    links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus()
  }
  const by_key = { group: 'lists' as const, keys_only: true, repeats: true }
  useCommands([
    { ...by_key, id: 'next-notification', label: t.notifications.next, keys: 'j', run: () => go(1) },
    { ...by_key, id: 'previous-notification', label: t.notifications.previous, keys: 'k', run: () => go(-1) },
  ])
}

const day_ms = 24 * 3600 * 1000

function dayOf(at: string, formats: Formats, t: Texts): string {
  const day = formats.day(at)
  if (day === formats.day(new Date().toISOString())) return t.notifications.today
  if (day === formats.day(new Date(Date.now() - day_ms).toISOString())) return t.notifications.yesterday
  return day
}

function Placeholder() {
  const t = useTexts()
  return (
    <div className="notifications" role="status" aria-busy aria-label={t.app.loading}>
      {['55%', '40%', '65%', '45%', '50%'].map((width) => (
        <div key={width} className="notification">
          <Skeleton height={12} width={width} ml={36} />
        </div>
      ))}
    </div>
  )
}
