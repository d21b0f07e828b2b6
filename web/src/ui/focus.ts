import { type RefObject, useEffect, useRef } from 'react'

/**
 * Gives the focus a place where what had it has gone: in the row that stands at this index now, else in the page. Whoever
 * has gone on to something else stays there.
 */
export function moveFocus(index?: number): void {
  if (document.activeElement && document.activeElement !== document.body) return
  const content = document.getElementById('content')
  const rows = index === undefined ? [] : [...(content?.querySelectorAll('tbody tr') ?? [])]
  const row = rows[Math.min(index ?? 0, rows.length - 1)]
  const target =
    row?.querySelector<HTMLElement>('[data-row-link]') ?? row?.querySelector<HTMLElement>('a, button')
  ;(target ?? content)?.focus()
}

/** The same as soon as the page is drawn anew. */
export const keepFocus = (index?: number): void => void requestAnimationFrame(() => moveFocus(index))

/** Gives the focus back to what began an edit when the edit has ended, unless whoever edited has gone on to something else. */
export function useFocusBack(editing: boolean, button: RefObject<HTMLElement | null>): void {
  const edited = useRef(false)
  useEffect(() => {
    if (edited.current && !editing && document.activeElement === document.body) button.current?.focus()
    edited.current = editing
  }, [editing, button])
}
