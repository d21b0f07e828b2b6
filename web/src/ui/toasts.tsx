import { type NotificationData, notifications, useNotifications } from '@mantine/notifications'
import { XIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { whenIdle } from '../app/idle.ts'
import { useTexts } from '../texts/texts.ts'
import './toasts.css'

const load = async () => (await import('./toast-list.tsx')).ToastList
whenIdle(load)

// Wait before showing plain toasts, so that a slow load does not replace them at once.
const plain_after_ms = 300
const again_ms = 2000
const longest_wait_ms = 30_000

/**
 * The toasts. Their program is loaded with the first one, or before, when the page is idle. If it does not come, such as
 * while the service is lost, they are plain until all are closed: a replacement would take the focus. A removed version of
 * it does not reload the page, which would close the toasts.
 */
export function Toasts() {
  const { notifications: shown } = useNotifications()
  const [List, setList] = useState<Awaited<ReturnType<typeof load>> | null>(null)
  const [plain, setPlain] = useState(false)
  if (plain && !shown.length) setPlain(false)
  const missing = !List && shown.length > 0
  useEffect(() => {
    if (!missing) return
    let current = true
    let wait_ms = again_ms
    let again: ReturnType<typeof setTimeout> | undefined
    const get = () =>
      load().then(
        (found) => setList(() => found),
        () => {
          if (!current) return
          again = setTimeout(get, wait_ms)
          wait_ms = Math.min(2 * wait_ms, longest_wait_ms)
        },
      )
    get()
    const late = setTimeout(() => setPlain(true), plain_after_ms)
    return () => {
      current = false
      clearTimeout(again)
      clearTimeout(late)
    }
  }, [missing])
  if (!plain) return List && <List />
  return (
    <div className="plain-toasts">
      {shown.map((toast) => (
        <PlainToast key={toast.id} {...toast} />
      ))}
    </div>
  )
}

function PlainToast({ id = '', message, autoClose }: NotificationData) {
  const t = useTexts()
  useEffect(() => {
    if (typeof autoClose !== 'number') return
    const timer = setTimeout(() => notifications.hide(id), autoClose)
    return () => clearTimeout(timer)
  }, [id, autoClose])
  return (
    <div className="plain-toast" role="alert">
      <div>{message}</div>
      <button
        type="button"
        className="icon-button"
        aria-label={t.app.close}
        onClick={() => notifications.hide(id)}
      >
        <XIcon size={14} />
      </button>
    </div>
  )
}
