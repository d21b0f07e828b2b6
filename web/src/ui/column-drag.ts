import { type PointerEvent as Pointer, useLayoutEffect, useRef, useState } from 'react'

/** A column in the pointer's hand, and the index to which it would go. */
export type Drag = { id: string; to: number }

// A shorter way of the pointer is a click.
const dragged_px = 6
const edge_px = 40

const headsOf = (row: Element) => [...row.querySelectorAll<HTMLElement>('th[data-column]')]

/** The index of the column at a place of the pointer: after all others whose middle is left of it. */
const indexAt = (row: Element, id: string, x: number) =>
  headsOf(row).filter((head) => {
    const { left, width } = head.getBoundingClientRect()
    return head.dataset.column !== id && left + width / 2 < x
  }).length

/** Scrolls the table when the pointer is at its edge. */
function scrollAt(row: Element, x: number) {
  const place = row.closest('.table-scroll')
  if (!place) return
  const { left, right } = place.getBoundingClientRect()
  if (x < left + edge_px) place.scrollBy(-edge_px, 0)
  if (x > right - edge_px) place.scrollBy(edge_px, 0)
}

/**
 * Moves columns by a drag of their headers with the mouse or a pen; a finger scrolls. Escape puts the column back. The
 * handlers are those of the row of headers.
 */
export function useColumnDrag(onMove: ((id: string, to: number) => void) | undefined) {
  const start = useRef<{ id: string; x: number } | null>(null)
  const was_drag = useRef(false)
  const [drag, setDrag] = useState<Drag | null>(null)
  const dragging = drag !== null
  function end() {
    start.current = null
    setDrag(null)
  }
  // As soon as the drag is seen.
  useLayoutEffect(() => {
    if (!dragging) return
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      // The side panel stays open.
      event.stopPropagation()
      start.current = null
      setDrag(null)
    }
    window.addEventListener('keydown', cancel, true)
    return () => window.removeEventListener('keydown', cancel, true)
  }, [dragging])
  if (!onMove) return { drag: null, handlers: {} }
  const handlers = {
    onPointerDown({ button, pointerType, clientX, target }: Pointer<HTMLElement>) {
      was_drag.current = false
      const head = (target as Element).closest<HTMLElement>('th[data-column]:not([data-first])')
      if (head && button === 0 && pointerType !== 'touch')
        start.current = { id: head.dataset.column ?? '', x: clientX }
    },
    onPointerMove({ currentTarget, pointerId, buttons, clientX }: Pointer<HTMLElement>) {
      if (!start.current) return
      if (!buttons) return end()
      const { id, x } = start.current
      if (!drag && Math.abs(clientX - x) < dragged_px) return
      if (!drag) currentTarget.setPointerCapture(pointerId)
      was_drag.current = true
      scrollAt(currentTarget, clientX)
      const to = Math.max(1, indexAt(currentTarget, id, clientX))
      if (drag?.to !== to) setDrag({ id, to })
    },
    onPointerUp({ currentTarget, clientX }: Pointer<HTMLElement>) {
      // The last move may not be drawn yet.
      const id = start.current?.id
      if (id !== undefined && was_drag.current) onMove(id, Math.max(1, indexAt(currentTarget, id, clientX)))
      end()
    },
    onPointerCancel: end,
    /** The end of a drag is not a click on the header. */
    onClickCapture(event: React.MouseEvent) {
      if (!was_drag.current) return
      was_drag.current = false
      event.preventDefault()
      event.stopPropagation()
    },
  }
  return { drag, handlers }
}
