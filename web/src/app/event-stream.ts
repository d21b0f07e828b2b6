/** What a stream tells: kinds of records that changed; that something may have been missed; that it is not let in. */
export type Told = { changed: string[] } | { lost: true } | { refused: true }

// Long enough for a service that starts again; longer each time that it does not.
const again_ms = 2000
const longest_ms = 30_000

/** Keeps a stream of the workspace's changes open from now on, until the signal if there is one; resolves then. */
export function openStream(tell: (told: Told) => void, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource
    let missing = true
    let failures = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    function open() {
      source = new EventSource('/api/v1/events/stream?changes=true')
      source.addEventListener('changed', ({ data }) => tell({ changed: JSON.parse(data).kinds }))
      source.onopen = () => {
        // Between the page's first reading and now, too: a stream from now on does not tell of that.
        if (missing) tell({ lost: true })
        missing = false
        failures = 0
      }
      source.onerror = () => {
        missing = true
        if (source.readyState === EventSource.CLOSED) tell({ refused: true })
        // The browser would come back by itself, but to where it was: to be sent all events since, which nobody here reads.
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
