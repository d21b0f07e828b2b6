/**
 * The handler of a click that runs once for a double click: the second click may come before the page has changed. For what
 * may not run twice; a button such as “Next month” takes each click.
 */
export const oneClick =
  (run: () => unknown) =>
  ({ detail }: { detail: number }): void => {
    if (detail < 2) run()
  }

const controls = 'a, button, summary, [role=button], [role=menuitem], [role=option], [role=tab]'

/**
 * Drops the second click of a double click on another control than the first one: that control came meanwhile, such as the
 * button of the next page. Also drops the repetitions of a held Enter, but not the line breaks of a text.
 */
export function guardPresses(): void {
  let clicked: Element | null = null
  const drop = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener(
    'click',
    (event) => {
      const before = clicked
      clicked = (event.target as Element).closest(controls)
      if (event.detail > 1 && clicked && clicked !== before) drop(event)
    },
    { capture: true },
  )
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Enter' || !event.repeat) return
      const breaks_line = (event.target as Element).matches('textarea, [contenteditable=true]')
      if (!breaks_line || event.ctrlKey || event.metaKey) drop(event)
    },
    { capture: true },
  )
}

/**
 * A button that waits for an answer is disabled, which takes the focus from it. Gives it back when the button is enabled
 * again. A focus that is elsewhere stays, and the page does not scroll.
 */
export function keepPressed(): void {
  let watch: MutationObserver | undefined
  document.addEventListener(
    'click',
    ({ target }) => {
      watch?.disconnect()
      const button = (target as Element).closest('button')
      if (!button || button !== document.activeElement) return
      watch = new MutationObserver(() => {
        if (!button.disabled && document.activeElement === document.body)
          button.focus({ preventScroll: true })
      })
      watch.observe(button, { attributeFilter: ['disabled'] })
    },
    { capture: true },
  )
}
