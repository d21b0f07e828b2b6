import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { Problem } from '../api/client.ts'
import { note_kinds } from '../api/note-kinds.ts'
import { isAhead, readAfterChange, readAgain } from '../api/read-again.ts'
import { all_kinds } from '../kinds.ts'
import { staleAfter } from '../record/kinds.ts'
import { closeEarlyStream, keepEarlyStream, openStream, type StreamMessage } from './event-stream.ts'
import { leaveToSignIn, type Session, sessionQuery } from './session.ts'

// The first parts of the queries' keys that a change makes stale, by what changed.
const stale: Record<string, string[]> = {
  ...Object.fromEntries(all_kinds.map((kind) => [kind.kind, staleAfter(kind, all_kinds)])),
  ...Object.fromEntries(Object.values(note_kinds).map((kind) => [kind, ['notes', 'timeline', 'trash']])),
  imports: ['imports'],
  notifications: ['notifications'],
  views: ['views'],
  custom_fields: ['custom_fields'],
  webhooks: ['webhooks'],
  api_keys: ['keys'],
  members: ['members'],
  users: ['members'],
  invitations: ['members'],
}
const of_any_change = ['events', 'deliveries', 'audit']
// With time alone, things become due, end, or stop being free.
const of_the_clock = ['activities', 'appointments', 'booking_pages', 'reports']
const minute_ms = 60_000
// Changes within this time are read together.
const gathered_ms = 300
// How long a page waits for the stream before it reads data.
const opening_ms = 400

let kept = false

/**
 * Keeps the page up to date: follows the changes of the workspace, and reads stale data again when the
 * window regains focus. Await it before the page reads data: it resolves when the stream is open, and data
 * read before that must be read again. On a slow line, it resolves earlier.
 */
export async function keepUpToDate(client: QueryClient, { workspace, scopes }: Session): Promise<void> {
  if (kept) return
  kept = true
  watchFocusAndClock(client)
  const follows = scopes.includes('events:read')
  keepEarlyStream(follows)
  if (!follows) return closeEarlyStream()
  const late = new Promise<void>((resolve) => setTimeout(resolve, opening_ms))
  await Promise.race([follow(client, `rapport-changes-${workspace.id}`), late])
}

/** Resolves when the stream is open, in this tab or in another one. */
function follow(client: QueryClient, name: string): Promise<void> {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const old = new Set<string>()
  let gathering = false
  function onMessage(message: StreamMessage) {
    open()
    if ('refused' in message) return onRefused(client)
    if ('lost' in message) return void readAgain(client, everything(client))
    for (const kind of message.changed) for (const resource of stale[kind] ?? []) old.add(resource)
    for (const resource of of_any_change) old.add(resource)
    if (gathering) return
    gathering = true
    setTimeout(() => {
      gathering = false
      readAfterChange(client, old)
      old.clear()
    }, gathered_ms)
  }

  // A browser opens at most six connections to a server, so all tabs share one stream. The tab that holds
  // the lock passes messages on.
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<StreamMessage>) => onMessage(data)
  // A tab that becomes the leader treats the time in between as a gap.
  const lead = () =>
    openStream((message) => {
      onMessage(message)
      channel.postMessage(message)
    })
  if (navigator.locks) {
    navigator.locks.query().then(({ held }) => {
      if (!held?.some((lock) => lock.name === name)) return
      closeEarlyStream()
      open()
    })
    navigator.locks.request(name, lead).catch(() => {})
  } else whileSeen(onMessage)
  return opened
}

/** The resources in the cache, except the session, which has its own updates. */
const everything = (client: QueryClient): Set<string> =>
  new Set(
    client
      .getQueryCache()
      .getAll()
      .map(({ queryKey }) => String(queryKey[0]))
      .filter((resource) => resource !== 'session'),
  )

/** The stream refuses an ended session, or the service is overloaded. Only the first leaves the page. */
async function onRefused(client: QueryClient) {
  try {
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 })
  } catch (error) {
    const ended = error instanceof Problem && error.status === 401
    if (ended && client.getQueryData(sessionQuery.queryKey)) leaveToSignIn()
  }
}

/** Without locks (plain http to another machine), each tab has its own stream, only while it is visible. */
function whileSeen(onMessage: (message: StreamMessage) => void): void {
  let hidden: AbortController | null = null
  function look() {
    if (document.visibilityState === 'visible' && !hidden) {
      hidden = new AbortController()
      openStream(onMessage, hidden.signal)
    } else if (document.visibilityState === 'hidden') {
      hidden?.abort()
      hidden = null
    }
  }
  document.addEventListener('visibilitychange', look)
  look()
}

/** Reads stale data again when the window regains focus, and each minute what time alone makes stale. */
function watchFocusAndClock(client: QueryClient): void {
  window.addEventListener('focus', () => {
    const predicate = ({ queryKey }: { queryKey: QueryKey }) => !isAhead(String(queryKey[0]))
    client.refetchQueries({ type: 'active', stale: true, predicate }, { cancelRefetch: false })
  })
  setInterval(() => document.visibilityState === 'visible' && readAgain(client, of_the_clock), minute_ms)
}
