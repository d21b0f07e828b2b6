const edge_px = 40
const most_px_per_second = 1200

/**
 * Scrolls an element while the pointer is near one of its edges or beyond. The library of the board scrolls when the middle of
 * a card is at an edge, and a card that is held at its side may never get there. Returns a function that stops the scrolling.
 */
export function scrollAtEdges(board: HTMLElement): () => void {
  let by = { left: 0, top: 0 }
  let frame = 0
  let last_ms = 0
  function scroll(now_ms: number) {
    // After a pause, do not jump.
    const seconds = Math.min(now_ms - last_ms, 50) / 1000
    last_ms = now_ms
    board.scrollBy(pixels(by.left * seconds), pixels(by.top * seconds))
    frame = by.left || by.top ? requestAnimationFrame(scroll) : 0
  }
  function follow(event: MouseEvent | TouchEvent) {
    const at = 'touches' in event ? event.touches[0] : event
    if (!at) return
    const { left, right, top, bottom } = board.getBoundingClientRect()
    by = { left: speedOf(at.clientX, left, right), top: speedOf(at.clientY, top, bottom) }
    if (!frame) frame = requestAnimationFrame(scroll)
  }
  const move_events = ['mousemove', 'touchmove'] as const
  for (const name of move_events) window.addEventListener(name, follow, { passive: true })
  return () => {
    cancelAnimationFrame(frame)
    for (const name of move_events) window.removeEventListener(name, follow)
  }
}

// A browser may drop a part of a pixel.
const pixels = (distance: number) => Math.sign(distance) * Math.ceil(Math.abs(distance))

/** How fast to scroll, in pixels per second: the nearer to the edge, the faster. */
function speedOf(at: number, start: number, end: number): number {
  const depth = Math.max(start + edge_px - at, at - (end - edge_px), 0)
  const speed = Math.min(depth / edge_px, 1) ** 2 * most_px_per_second
  return at < start + edge_px ? -speed : speed
}
