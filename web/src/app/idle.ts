import { useEffect, useState } from 'react'

// Long enough that the first page has asked for its data.
const first_ms = 2000

type Load = () => Promise<unknown>

// Parts that the page itself may open come first. Everything else is loaded up to a limit.
const of_page: Load[] = []
const others: Load[] = []
let started = false
let loading = false

// A page that is never idle must not wait for its inputs.
const latest_ms = 3000

function onIdle(run: () => void): void {
  if (window.requestIdleCallback) window.requestIdleCallback(run, { timeout: latest_ms })
  else setTimeout(run, 200)
}

// One part takes up to ten files. So a page reads at most 40 files ahead, and far less than 300 KB.
const most_files = 30
let files_before = 0
const filesRead = () => performance.getEntriesByType('resource').length

/** Loads parts of the app, one after the other, while the page has nothing else to do. */
function next(): void {
  if (!started || loading) return
  const load = of_page.shift() ?? (filesRead() - files_before < most_files ? others.shift() : undefined)
  if (!load) return
  loading = true
  onIdle(async () => {
    // The part is loaded again when it is needed.
    await load().catch(() => {})
    loading = false
    next()
  })
}

/**
 * Has a part of the app loaded before its first use, when the first page is shown and the page is idle. With `own`, the page
 * that is shown may open it: then it does not need the service any longer.
 */
export function whenIdle(load: Load, own = false): void {
  const parts = own ? of_page : others
  parts.push(load)
  next()
}

/** Begins with the parts. Call it when the first page is shown. */
export function startIdle(): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (!connection?.saveData)
    setTimeout(() => {
      started = true
      files_before = filesRead()
      next()
    }, first_ms)
}

/** Whether the page has been idle since the component was mounted: false while it is first drawn. */
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false)
  useEffect(() => onIdle(() => setIdle(true)), [])
  return idle
}
