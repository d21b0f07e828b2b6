import { useEffect, useMemo } from 'react'

/**
 * One opening of a dialog or page. A late answer must check `over`: if true, the dialog is closed, or open
 * for another record, and the answer must not change it.
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
