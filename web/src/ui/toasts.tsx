import { notifications, useNotifications } from '@mantine/notifications'
import { XIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { whenIdle } from '../app/idle.ts'
import { useTexts } from '../texts/texts.ts'
import './toasts.css'

const load = async () => (await import('./toast-list.tsx')).ToastList
whenIdle(load)

// A slow load shows no two forms of a toast one after the other.
const plain_after_ms = 300
const again_ms = 2000

/**
 * The toasts. What draws them is loaded with the first one, or before, when the page is idle. If it does not come, such as
 * while the service is lost, they are plain.
 */
export function Toasts() {
  const { notifications: shown } = useNotifications()
  const [List, setList] = useState<Awaited<ReturnType<typeof load>> | null>(null)
  const [late, setLate] = useState(false)
  const missing = !List && shown.length > 0
  useEffect(() => {
    if (!missing) return
    let again: ReturnType<typeof setTimeout> | undefined
    const get = () =>
      load().then(
        (found) => setList(() => found),
        () => {
          again = setTimeout(get, again_ms)
        },
      )
    get()
    const plain = setTimeout(() => setLate(true), plain_after_ms)
    return () => {
      clearTimeout(again)
      clearTimeout(plain)
    }
  }, [missing])
  if (List) return <List />
  return missing && late && <PlainToasts />
}

function PlainToasts() {
  const t = useTexts()
  const { notifications: shown } = useNotifications()
  return (
    <div className="plain-toasts">
      {shown.map(({ id = '', message }) => (
        <div key={id} className="plain-toast" role="alert">
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
      ))}
    </div>
  )
}
