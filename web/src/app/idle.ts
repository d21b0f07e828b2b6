import { useEffect, useState } from 'react'

// Long enough that the first page has asked for its data.
const first_ms = 2000

const waiting: (() => Promise<unknown>)[] = []
let started = false
let loading = false

// A page that is never idle must not wait for its inputs.
const latest_ms = 3000

function onIdle(run: () => void): void {
  if (window.requestIdleCallback) window.requestIdleCallback(run, { timeout: latest_ms })
  else setTimeout(run, 200)
}

/** Loads parts of the app, one after the other, while the page has nothing else to do. */
function next(): void {
  if (!started || loading || !waiting.length) return
  loading = true
  onIdle(async () => {
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

/** Whether the page has been idle since the component was mounted: false while it is first drawn. */
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false)
  useEffect(() => onIdle(() => setIdle(true)), [])
  return idle
}
