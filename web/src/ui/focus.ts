/**
 * Gives the focus a place where what had it has gone: in the row that stands at this index now, else in the page. Whoever
 * has gone on to something else stays there.
 */
export function keepFocus(index?: number): void {
  requestAnimationFrame(() => {
    if (document.activeElement && document.activeElement !== document.body) return
    const content = document.getElementById('content')
    const rows = index === undefined ? [] : [...(content?.querySelectorAll('tbody tr') ?? [])]
    const row = rows[Math.min(index ?? 0, rows.length - 1)]
    const target =
      row?.querySelector<HTMLElement>('[data-row-link]') ?? row?.querySelector<HTMLElement>('a, button')
    ;(target ?? content)?.focus()
  })
}
