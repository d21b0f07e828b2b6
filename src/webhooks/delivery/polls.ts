// Commits wake the dispatcher, and a timer wakes it for retries. The poll catches what both missed.
export const poll_ms = 1000
const max_poll_rest_ms = 200

type Options = {
  /** One round. Resolves with the milliseconds until the next one. */
  poll: () => Promise<number>
  onError: (error: unknown) => void
}

/** Runs one poll at a time: at each wake, and after the pause that the poll before asked for. */
export function createPolls({ poll, onError }: Options) {
  // False before start(), after stop(), and in a process that only answers the API. Nothing is claimed then.
  let running = false
  let polling: Promise<void> | null = null
  let woken = false
  let last_poll_ms = 0
  let rest_until_ms = 0
  let timer: NodeJS.Timeout | undefined

  /** Polls for due deliveries now. If a poll is running, it runs once more. */
  function wake(): void {
    woken = true
    if (polling || !running) return
    clearTimeout(timer)
    const rest_ms = rest_until_ms - performance.now()
    if (rest_ms > 0) {
      timer = setTimeout(wake, rest_ms)
      return
    }
    polling = poll()
      .catch((error) => {
        onError(error)
        return poll_ms
      })
      .then((pause_ms) => {
        polling = null
        if (!running) return
        if (woken) setImmediate(wake)
        else timer = setTimeout(wake, pause_ms)
      })
  }

  return {
    wake,
    running: () => running,
    start(): void {
      running = true
      wake()
    },
    async stop(): Promise<void> {
      running = false
      clearTimeout(timer)
      await polling
    },
    /** Called before each round: a wake from here on asks for one more. */
    begin(): void {
      woken = false
    },
    // Every commit wakes the dispatcher, also the dispatcher's own. Polling may use at most 20 % of the time. A single slow
    // poll does not count: something else may have delayed it.
    restAfter(duration_ms: number): void {
      const cost_ms = Math.min(duration_ms, last_poll_ms)
      last_poll_ms = duration_ms
      rest_until_ms = performance.now() + Math.min(4 * cost_ms, max_poll_rest_ms)
    },
  }
}
