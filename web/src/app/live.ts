import type { QueryClient } from '@tanstack/react-query'
import { Problem } from '../api/client.ts'
import { readAgain } from '../api/read-again.ts'
import { openStream, type Told } from './event-stream.ts'
import { leaveToSignIn, type Session, sessionQuery } from './session.ts'

// What an event of a resource makes old: by the first part of the queries' keys.
const stale: Record<string, string[]> = {
  contact: ['contacts', 'companies', 'deals', 'activities', 'appointments', 'notes', 'timeline', 'trash'],
  company: ['companies', 'contacts', 'deals', 'activities', 'timeline', 'trash'],
  deal: ['deals', 'activities', 'timeline', 'reports', 'trash'],
  activity: ['activities', 'timeline', 'reports', 'trash'],
  appointment: ['appointments', 'timeline', 'trash'],
}
const of_any_event = ['events', 'deliveries', 'audit']
// Notes, changes and deletions of activities, deletions of appointments: these have no events, so they are looked at.
const untold = ['notes', 'timeline', 'activities', 'appointments', 'trash', 'booking_pages']
const look_ms = 30_000
// Many events at once are one reading.
const gathered_ms = 300

let kept = false

/**
 * Keeps what is shown up to date as long as the page is there: follows the workspace's events, and looks at what has none.
 * Begun before the page's own data is asked for: what was read before the stream is open is read again.
 */
export function keepUpToDate(client: QueryClient, { workspace, scopes }: Session): void {
  if (kept) return
  kept = true
  lookAgain(client)
  if (scopes.includes('events:read')) follow(client, `rapport-events-${workspace.id}`)
}

function follow(client: QueryClient, name: string): void {
  const old = new Set<string>()
  let gathering = false
  // Where the stream is, whichever tab reads it: the next one that does goes on from there.
  let place = ''
  function hear(told: Told) {
    if ('refused' in told) return onRefused(client)
    // What has no events may have changed, too, while nobody listened. The session tells of itself.
    if ('lost' in told) {
      place = ''
      return void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    }
    place = told.id
    const resources = stale[told.event.split('.')[0] ?? ''] ?? []
    for (const resource of [...resources, ...of_any_event]) old.add(resource)
    if (gathering) return
    gathering = true
    setTimeout(() => {
      gathering = false
      readAgain(client, old)
      old.clear()
    }, gathered_ms)
  }

  // A browser has six connections to a server, so all tabs share one stream: the tab that holds the lock tells the others.
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<Told>) => hear(data)
  const asked_at = performance.now()
  function lead() {
    // A tab that comes after another one may have missed something in between.
    const waited = performance.now() - asked_at > 1000
    if (waited && !place) hear({ lost: true })
    return openStream(place, (told) => {
      hear(told)
      channel.postMessage(told)
    })
  }
  if (navigator.locks) navigator.locks.request(name, lead).catch(() => {})
  else whileSeen(hear)
}

/** The stream is refused to whose session has ended; else it is the service that takes nobody at the moment. */
async function onRefused(client: QueryClient) {
  try {
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 })
  } catch (error) {
    const ended = error instanceof Problem && error.status === 401
    if (ended && client.getQueryData(sessionQuery.queryKey)) leaveToSignIn()
  }
}

/** Without locks, which plain http has only on one's own machine: each tab has a stream, but only while it is seen. */
function whileSeen(hear: (told: Told) => void): void {
  let hidden: AbortController | null = null
  let before = false
  function look() {
    if (document.visibilityState === 'visible' && !hidden) {
      if (before) hear({ lost: true })
      before = true
      hidden = new AbortController()
      openStream('', hear, hidden.signal)
    } else if (document.visibilityState === 'hidden') {
      hidden?.abort()
      hidden = null
    }
  }
  document.addEventListener('visibilitychange', look)
  look()
}

/** Reads what is old when the window is taken up again, and what no event tells of every half minute while it is seen. */
function lookAgain(client: QueryClient): void {
  // Two windows beside each other are both visible all the time, which is all that the queries themselves look at.
  const look = () => void readAgain(client, untold)
  window.addEventListener('focus', () => {
    look()
    client.refetchQueries({ type: 'active', stale: true }, { cancelRefetch: false })
  })
  setInterval(() => document.visibilityState === 'visible' && look(), look_ms)
}
