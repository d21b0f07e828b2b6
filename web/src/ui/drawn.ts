import { startTransition, useEffect, useState } from 'react'

/** Whether what does not fit the window is drawn: false in the first drawing after `known`, so that the window fills sooner. */
export function useRest(known = true, at_once = false): boolean {
  const [rest, setRest] = useState(at_once)
  useEffect(() => {
    if (known) startTransition(() => setRest(true))
  }, [known])
  return rest
}

// The line of the page and the head of a list are at least this high.
const above_px = 84

/**
 * The entries of a list to draw: first as many as fit the window, then all. The first ones show sooner on a slow device.
 * With `at_once`, a list that is drawn anew shows all from the start.
 */
export function useDrawn<Entry>(
  entries: Entry[] | undefined,
  entry_px: number,
  at_once = false,
): Entry[] | undefined {
  const all = useRest(entries !== undefined, at_once)
  return all ? entries : entries?.slice(0, Math.max(1, Math.ceil((window.innerHeight - above_px) / entry_px)))
}
