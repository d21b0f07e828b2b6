import { useNotifications } from '@mantine/notifications'
import { useEffect, useState } from 'react'
import { whenIdle } from '../app/idle.ts'

const load = async () => (await import('./toast-list.tsx')).ToastList
whenIdle(load)

/** The toasts. What draws them is loaded with the first one, or before, when the page is idle. */
export function Toasts() {
  const { notifications: shown } = useNotifications()
  const [List, setList] = useState<Awaited<ReturnType<typeof load>> | null>(null)
  const newest = List ? undefined : shown.at(-1)?.id
  useEffect(() => {
    // The next toast tries again.
    if (newest) load().then((found) => setList(() => found), console.error)
  }, [newest])
  return List && <List />
}
