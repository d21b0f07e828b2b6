import { type DragEvent, useState } from 'react'

type Place = { key: string; after: boolean }

/** Dragging of tabs with the mouse. `keys` are those that move, in their order. Gives each of them its properties. */
export function useTabDrag(keys: readonly string[], onMove: (keys: string[], moved: string) => void) {
  const [dragged, setDragged] = useState<string | null>(null)
  const [place, setPlace] = useState<Place | null>(null)
  function end() {
    setDragged(null)
    setPlace(null)
  }
  function drop(event: DragEvent) {
    if (dragged === null || place === null) return
    event.preventDefault()
    const others = keys.filter((key) => key !== dragged)
    const index = others.indexOf(place.key) + (place.after ? 1 : 0)
    const next = others.toSpliced(index, 0, dragged)
    end()
    if (place.key !== dragged && next.join() !== keys.join()) onMove(next, dragged)
  }
  return (key: string) => {
    if (!keys.includes(key)) return { draggable: false }
    return {
      draggable: true,
      'data-drop':
        dragged && place?.key === key && key !== dragged ? (place.after ? 'after' : 'before') : undefined,
      onDragStart(event: DragEvent) {
        event.dataTransfer.effectAllowed = 'move'
        setDragged(key)
      },
      onDragOver(event: DragEvent) {
        if (dragged === null) return
        // Without this, nothing can be dropped here.
        event.preventDefault()
        const { left, width } = event.currentTarget.getBoundingClientRect()
        const after = event.clientX > left + width / 2
        if (place?.key !== key || place.after !== after) setPlace({ key, after })
      },
      onDrop: drop,
      onDragEnd: end,
    }
  }
}
