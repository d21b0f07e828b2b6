// Long enough that the first page has asked for its data.
const first_ms = 2000

const waiting: (() => Promise<unknown>)[] = []
let started = false
let loading = false

/** Loads parts of the app, one after the other, while the page has nothing else to do. */
function next(): void {
  if (!started || loading || !waiting.length) return
  loading = true
  const idle = window.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 200))
  idle(async () => {
    // The part is loaded again when it is needed.
    await waiting
      .shift()?.()
      .catch(() => {})
    loading = false
    next()
  })
}

/** Has a part of the app loaded before its first use, when the first page is shown and the page is idle. */
export function whenIdle(load: () => Promise<unknown>): void {
  waiting.push(load)
  next()
}

/** Begins with the parts. Call it when the first page is shown. */
export function startIdle(): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (!connection?.saveData)
    setTimeout(() => {
      started = true
      next()
    }, first_ms)
}
