import { startTransition, useEffect, useState } from 'react'

/**
 * The entries of a list to draw: first as many as fit the window, then all. The first ones show sooner on a slow device.
 * With `at_once`, a list that is drawn anew shows all from the start.
 */
export function useDrawn<Entry>(
  entries: Entry[] | undefined,
  entry_px: number,
  at_once = false,
): Entry[] | undefined {
  const [all, setAll] = useState(at_once)
  const known = entries !== undefined
  useEffect(() => {
    if (known) startTransition(() => setAll(true))
  }, [known])
  return all ? entries : entries?.slice(0, Math.ceil(window.innerHeight / entry_px))
}
