import { useEffect, useMemo } from 'react'

/**
 * One opening of a dialog or a page. An answer that comes late asks whether it is over: by then the dialog may be closed, or
 * open anew for something else, or the page left, and nothing there may change any more.
 */
export function useOpening(opened = true): { over: boolean } {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each opening is another one
  const opening = useMemo(() => ({ over: false }), [opened])
  useEffect(() => {
    opening.over = false
    return () => {
      opening.over = true
    }
  }, [opening])
  return opening
}
