/** What a stream tells: an event with its place; that something may have been missed; that the service does not let it in. */
export type Told = { event: string; id: string } | { lost: true } | { refused: true }

const names = [
  ...['contact', 'company', 'deal'].flatMap((noun) => [
    `${noun}.created`,
    `${noun}.updated`,
    `${noun}.deleted`,
  ]),
  ...['deal.stage_changed', 'deal.won', 'deal.lost', 'activity.created', 'activity.completed'],
  ...['appointment.created', 'appointment.updated', 'appointment.cancelled'],
]
// Long enough for a service that starts again; longer each time that it does not.
const again_ms = 2000
const longest_ms = 30_000

/** Keeps a stream of the workspace's events open, from a place on or from now, until the signal if there is one; resolves then. */
export function openStream(from: string, tell: (told: Told) => void, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource
    let missing = from === ''
    let failures = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    function open(place: string) {
      source = new EventSource(`/api/v1/events/stream${place && `?cursor=${place}`}`)
      for (const name of names)
        source.addEventListener(name, ({ lastEventId }) => tell({ event: name, id: lastEventId }))
      source.onopen = () => {
        // Between the page's first reading and now, too: a stream from now on does not tell of that.
        if (missing) tell({ lost: true })
        missing = false
        failures = 0
      }
      source.onerror = () => {
        missing = true
        // The browser comes back by itself, and goes on where it was, as long as it was not refused.
        if (source.readyState !== EventSource.CLOSED) return
        tell({ refused: true })
        // From now on: the place itself may be what was refused, and all is read again anyway.
        timer = setTimeout(() => open(''), Math.min(longest_ms, again_ms * 2 ** failures++))
      }
    }
    open(from)
    signal?.addEventListener('abort', () => {
      source.close()
      clearTimeout(timer)
      resolve()
    })
  })
}
