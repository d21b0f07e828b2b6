import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { Problem } from '../api/client.ts'
import { isAhead, readAgain, readTwice } from '../api/read-again.ts'
import { all_kinds } from '../kinds.ts'
import { staleAfter } from '../record/kinds.ts'
import { openStream, type Told } from './event-stream.ts'
import { leaveToSignIn, type Session, sessionQuery } from './session.ts'

// The first parts of the queries' keys that a change makes stale, by what changed.
const stale: Record<string, string[]> = {
  ...Object.fromEntries(all_kinds.map((kind) => [kind.kind, staleAfter(kind)])),
  notes: ['notes', 'timeline', 'trash'],
  views: ['views'],
  webhooks: ['webhooks'],
  api_keys: ['keys'],
  members: ['members'],
  users: ['members'],
  invitations: ['members'],
}
const of_any_change = ['events', 'deliveries', 'audit']
// What was to come is due, is over, or is free no more.
const of_the_clock = ['activities', 'appointments', 'booking_pages', 'reports']
const minute_ms = 60_000
// Many changes at once are one reading.
const gathered_ms = 300

let kept = false

/**
 * Keeps what is shown up to date as long as the page is there: follows the workspace's changes, and reads again what is old
 * when the window is taken up. Begun before the page's own data is asked for, so that little is read before the stream is
 * open: that is read again.
 */
export function keepUpToDate(client: QueryClient, { workspace, scopes }: Session): void {
  if (kept) return
  kept = true
  lookAgain(client)
  if (scopes.includes('events:read')) follow(client, `rapport-changes-${workspace.id}`)
}

function follow(client: QueryClient, name: string): void {
  const old = new Set<string>()
  let gathering = false
  function hear(told: Told) {
    if ('refused' in told) return onRefused(client)
    if ('lost' in told) return void readAgain(client, everything(client))
    for (const kind of told.changed) for (const resource of stale[kind] ?? []) old.add(resource)
    for (const resource of of_any_change) old.add(resource)
    if (gathering) return
    gathering = true
    setTimeout(() => {
      gathering = false
      readTwice(client, old)
      readAgain(client, old)
      old.clear()
    }, gathered_ms)
  }

  // A browser has six connections to a server, so all tabs share one stream: the tab that holds the lock tells the others.
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<Told>) => hear(data)
  // A tab that comes after another one hears that something may have been missed in between.
  const lead = () =>
    openStream((told) => {
      hear(told)
      channel.postMessage(told)
    })
  if (navigator.locks) navigator.locks.request(name, lead).catch(() => {})
  else whileSeen(hear)
}

/** The resources that the page has read. The session tells of itself. */
const everything = (client: QueryClient): Set<string> =>
  new Set(
    client
      .getQueryCache()
      .getAll()
      .map(({ queryKey }) => String(queryKey[0]))
      .filter((resource) => resource !== 'session'),
  )

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
  function look() {
    if (document.visibilityState === 'visible' && !hidden) {
      hidden = new AbortController()
      openStream(hear, hidden.signal)
    } else if (document.visibilityState === 'hidden') {
      hidden?.abort()
      hidden = null
    }
  }
  document.addEventListener('visibilitychange', look)
  look()
}

/** Reads what is old when the window is taken up again, and every minute what time alone makes old. */
function lookAgain(client: QueryClient): void {
  window.addEventListener('focus', () => {
    const predicate = ({ queryKey }: { queryKey: QueryKey }) => !isAhead(String(queryKey[0]))
    client.refetchQueries({ type: 'active', stale: true, predicate }, { cancelRefetch: false })
  })
  setInterval(() => document.visibilityState === 'visible' && readAgain(client, of_the_clock), minute_ms)
}
