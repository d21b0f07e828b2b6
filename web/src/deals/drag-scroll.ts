const edge_px = 40
const most_px_per_frame = 20

/**
 * Scrolls the board while the pointer is near one of its edges or beyond. The library goes by the middle of the card instead,
 * which a card that is held at its side never brings to the edge. Returns what ends it.
 */
export function scrollAtEdges(board: HTMLElement): () => void {
  let by = { left: 0, top: 0 }
  let frame = 0
  function scroll() {
    board.scrollBy(by)
    frame = by.left || by.top ? requestAnimationFrame(scroll) : 0
  }
  function follow(event: MouseEvent | TouchEvent) {
    const at = 'touches' in event ? event.touches[0] : event
    if (!at) return
    const { left, right, top, bottom } = board.getBoundingClientRect()
    by = { left: stepOf(at.clientX, left, right), top: stepOf(at.clientY, top, bottom) }
    if (!frame) scroll()
  }
  const heard = ['mousemove', 'touchmove'] as const
  for (const name of heard) window.addEventListener(name, follow, { passive: true })
  return () => {
    cancelAnimationFrame(frame)
    for (const name of heard) window.removeEventListener(name, follow)
  }
}

/** How far to scroll in a frame: the nearer to the edge, the farther. */
function stepOf(at: number, start: number, end: number): number {
  const depth = Math.max(start + edge_px - at, at - (end - edge_px), 0)
  const step = Math.ceil(Math.min(depth / edge_px, 1) ** 2 * most_px_per_frame)
  return at < start + edge_px ? -step : step
}
