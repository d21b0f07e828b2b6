import { type DragEvent, useRef, useState } from 'react'

type Place = { key: string; after: boolean }

/** Whether the pointer is in the second half of an element. */
function isAfter({ currentTarget, clientX }: DragEvent): boolean {
  const { left, width } = currentTarget.getBoundingClientRect()
  return clientX > left + width / 2
}

/** Dragging of tabs with the mouse. `keys` are those that move, in their order. Gives each of them its properties. */
export function useTabDrag(keys: readonly string[], onMove: (keys: string[], moved: string) => void) {
  // Not a state: a drop can come before the start of the drag is drawn.
  const in_hand = useRef<string | null>(null)
  const [dragged, setDragged] = useState<string | null>(null)
  const [place, setPlace] = useState<Place | null>(null)
  function end() {
    in_hand.current = null
    setDragged(null)
    setPlace(null)
  }
  function drop(event: DragEvent, key: string) {
    const moved = in_hand.current
    if (moved === null) return
    event.preventDefault()
    const others = keys.filter((one) => one !== moved)
    const index = others.indexOf(key) + (isAfter(event) ? 1 : 0)
    const next = others.toSpliced(index, 0, moved)
    end()
    if (key !== moved && next.join() !== keys.join()) onMove(next, moved)
  }
  return (key: string) => {
    if (!keys.includes(key)) return { draggable: false }
    return {
      draggable: true,
      'data-drop':
        dragged && place?.key === key && key !== dragged ? (place.after ? 'after' : 'before') : undefined,
      onDragStart(event: DragEvent) {
        event.dataTransfer.effectAllowed = 'move'
        in_hand.current = key
        setDragged(key)
      },
      onDragOver(event: DragEvent) {
        if (in_hand.current === null) return
        // Without this, nothing can be dropped here.
        event.preventDefault()
        const after = isAfter(event)
        if (place?.key !== key || place.after !== after) setPlace({ key, after })
      },
      onDrop: (event: DragEvent) => drop(event, key),
      onDragEnd: end,
    }
  }
}
