import { type KeyboardEvent, type PointerEvent as Pointer, useLayoutEffect, useRef } from 'react'
import { useTexts } from '../texts/texts.ts'
import { least_px, most_px, within } from './column-order.ts'
import './column-width.css'

const step_px = 16

/** How much larger a pixel is than at the usual text size. */
const scale = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
const headOf = (handle: Element) => handle.closest('th') as HTMLElement
const drawnWidth = (handle: Element) => headOf(handle).getBoundingClientRect().width / scale()

type Props = {
  /** The name of the column. */
  name: string
  /** In pixels at the usual text size. */
  width: number
  /** Null: as usual. */
  onWidth: (width: number | null) => void
}

/**
 * The edge of a column's header: a drag sets the width of the column, and so do the arrow keys. A double click or Backspace
 * restores the usual one, and Escape ends a drag.
 */
export function ColumnEdge({ name, width, onWidth }: Props) {
  const t = useTexts()
  const edge = useRef<HTMLHRElement>(null)
  const held = useRef<{ x: number; from: number; to: number } | null>(null)
  // A width that the column does not have yet.
  const drawn = useRef<number | null>(null)
  function draw(to: number | null) {
    drawn.current = to
    if (edge.current) headOf(edge.current).style.width = to === null ? '' : `${to / 16}rem`
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new width
  useLayoutEffect(() => {
    if (drawn.current === width) draw(null)
  }, [width])
  function onPointerDown({ button, clientX, pointerId, currentTarget }: Pointer) {
    if (button !== 0) return
    currentTarget.setPointerCapture(pointerId)
    const from = drawnWidth(currentTarget)
    held.current = { x: clientX, from, to: from }
  }
  function onPointerMove({ clientX }: Pointer) {
    if (!held.current) return
    const { x, from } = held.current
    held.current.to = within(from + (clientX - x) / scale())
    draw(held.current.to)
  }
  function end(takes: boolean) {
    const { from, to } = held.current ?? { from: 0, to: 0 }
    held.current = null
    if (!takes || to === from || to === width) draw(null)
    if (takes && to !== from) onWidth(to)
  }
  function step(by: number, head: Element) {
    const to = within(drawnWidth(head) + by)
    // A width that the column has already is drawn by the table.
    draw(to === width ? null : to)
    onWidth(to)
  }
  function reset() {
    draw(null)
    onWidth(null)
  }
  function onKeyDown(event: KeyboardEvent) {
    const { key, currentTarget } = event
    const by = { ArrowLeft: -step_px, ArrowRight: step_px }[key]
    if (by !== undefined) step(by, currentTarget)
    else if (key === 'Backspace') reset()
    else if (key === 'Escape' && held.current) end(false)
    else return
    event.preventDefault()
    // The table does not scroll, and the side panel stays open.
    event.stopPropagation()
  }
  return (
    <hr
      ref={edge}
      className="column-edge"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={t.app.column_width({ name })}
      aria-valuenow={width}
      aria-valuemin={least_px}
      aria-valuemax={most_px}
      onPointerDown={(event) => {
        // Otherwise the drag would move the column.
        event.stopPropagation()
        onPointerDown(event)
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => end(true)}
      onPointerCancel={() => end(false)}
      onDoubleClick={reset}
      onKeyDown={onKeyDown}
    />
  )
}
