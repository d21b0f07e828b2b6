import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useMay, useSession } from './session.ts'

// What an event of a resource makes old: by the first part of the queries' keys.
const stale: Record<string, string[]> = {
  contact: ['contacts', 'companies', 'deals', 'timeline', 'trash'],
  company: ['companies', 'contacts', 'deals', 'timeline', 'trash'],
  deal: ['deals', 'timeline', 'reports', 'trash'],
  activity: ['activities', 'timeline', 'reports', 'trash'],
  appointment: ['appointments', 'timeline', 'trash'],
}
const names = [
  ...['contact', 'company', 'deal'].flatMap((noun) => [
    `${noun}.created`,
    `${noun}.updated`,
    `${noun}.deleted`,
  ]),
  ...['deal.stage_changed', 'deal.won', 'deal.lost', 'activity.created', 'activity.completed'],
  ...['appointment.created', 'appointment.updated', 'appointment.cancelled'],
]
// Many events at once are one reading.
const gathered_ms = 300

// Long enough for a service that starts again.
const again_ms = 3000

/** Follows the workspace's events, and reads again what they concern. */
export function useLiveUpdates(): void {
  const client = useQueryClient()
  const follows = useMay()('events:read')
  const { workspace } = useSession()
  useEffect(
    () => (follows ? follow(client, `rapport-events-${workspace.id}`) : undefined),
    [client, follows, workspace.id],
  )
}

type Told = { event: string } | { lost: true }

function follow(client: QueryClient, name: string): () => void {
  const old = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  function hear(told: Told) {
    // What has no events (notes, settings) may have changed while nobody listened.
    if ('lost' in told) return void client.invalidateQueries()
    for (const resource of stale[told.event.split('.')[0] ?? ''] ?? []) old.add(resource)
    old.add('events').add('deliveries')
    timer ??= setTimeout(() => {
      timer = undefined
      for (const resource of old) client.invalidateQueries({ queryKey: [resource] })
      old.clear()
    }, gathered_ms)
  }

  // A browser has six connections to a server, so all tabs share one stream: the tab that holds the lock tells the others.
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<Told>) => hear(data)
  const ending = new AbortController()
  const lead = () =>
    openStream(ending.signal, (told) => {
      hear(told)
      channel.postMessage(told)
    })
  if (navigator.locks) navigator.locks.request(name, { signal: ending.signal }, lead).catch(() => {})
  else lead()
  return () => {
    ending.abort()
    channel.close()
    clearTimeout(timer)
  }
}

/** Keeps a stream open until the signal; resolves then. */
function openStream(signal: AbortSignal, tell: (told: Told) => void): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource
    let last_id = ''
    let broken = false
    let timer: ReturnType<typeof setTimeout> | undefined
    function open() {
      // The browser goes on where it was by itself; a new source has to be told.
      source = new EventSource(`/api/v1/events/stream${last_id && `?cursor=${last_id}`}`)
      for (const name of names)
        source.addEventListener(name, ({ lastEventId }) => {
          last_id = lastEventId
          tell({ event: name })
        })
      source.onopen = () => {
        if (broken) tell({ lost: true })
        broken = false
      }
      source.onerror = () => {
        broken = true
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, again_ms)
      }
    }
    open()
    signal.addEventListener('abort', () => {
      source.close()
      clearTimeout(timer)
      resolve()
    })
  })
}
