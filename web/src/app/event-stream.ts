import { dropEarlyReads } from '../api/early-reads.ts'

/** A message of the stream: kinds of records that changed, a gap in the stream, or a refusal. */
export type StreamMessage = { changed: string[] } | { lost: true } | { refused: true }

// Long enough for a service that restarts. The pause doubles with each failure.
const again_ms = 2000
const longest_ms = 30_000

/** The stream that index.html has opened before the scripts were there; null if it is used, or closed. */
function earlyStream(): EventSource | null {
  const page = window as { stream?: EventSource }
  const stream = page.stream
  page.stream = undefined
  return stream && stream.readyState !== EventSource.CLOSED ? stream : null
}

/** Closes that stream, because another tab has one. */
export const closeEarlyStream = (): void => earlyStream()?.close()

/** Remembers in this browser whether the person may follow the changes. */
export function keepEarlyStream(follows: boolean): void {
  try {
    if (follows) localStorage.setItem(follows_changes, '1')
    else localStorage.removeItem(follows_changes)
  } catch {
    // Storage may be disabled. Then the stream opens with the scripts.
  }
}
const follows_changes = 'rapport-stream'

/** Keeps a stream of the workspace's changes open. With a signal, closes it on abort, then resolves. */
export function openStream(onMessage: (message: StreamMessage) => void, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource
    let missing = true
    let failures = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    function open() {
      const early = earlyStream()
      // A new stream does not report what has changed since those.
      if (!early) dropEarlyReads()
      source = early ?? new EventSource('/api/v1/events/stream?changes=true')
      source.addEventListener('changed', ({ data }) => onMessage({ changed: JSON.parse(data).kinds }))
      const onOpen = () => {
        // The stream starts now. Changes between the first read of the page and now count as a gap.
        if (missing) onMessage({ lost: true })
        missing = false
        failures = 0
      }
      source.onopen = onOpen
      if (source.readyState === EventSource.OPEN) onOpen()
      source.onerror = () => {
        missing = true
        if (source.readyState === EventSource.CLOSED) onMessage({ refused: true })
        // The browser would reconnect, and request every event since. The app does not use those.
        source.close()
        timer = setTimeout(open, Math.min(longest_ms, again_ms * 2 ** failures++))
      }
    }
    open()
    signal?.addEventListener('abort', () => {
      source.close()
      clearTimeout(timer)
      resolve()
    })
  })
}
