import { type RefObject, useEffect, useRef } from 'react'

/** The row of a table that has the focus. */
export function focusedRow<Row extends { id: string | number }>(
  rows: readonly Row[] | undefined,
): Row | undefined {
  const id = document.activeElement?.closest<HTMLElement>('[data-row-id]')?.dataset.rowId
  return rows?.find((row) => String(row.id) === id)
}

/**
 * Moves the focus of a removed element to the row at this index, else to the page. A focus that is
 * elsewhere stays.
 */
export function moveFocus(index?: number): void {
  if (document.activeElement && document.activeElement !== document.body) return
  const content = document.getElementById('content')
  const rows = index === undefined ? [] : [...(content?.querySelectorAll('tbody tr[data-row-id]') ?? [])]
  const row = rows[Math.min(index ?? 0, rows.length - 1)]
  const target =
    row?.querySelector<HTMLElement>('[data-row-link]') ?? row?.querySelector<HTMLElement>('a, button')
  ;(target ?? content)?.focus()
}

/**
 * Calls back after the next frame and a task. React has usually drawn by then, but its task can come later. A disabled
 * button keeps the focus until a frame.
 */
const whenDrawn = (then: () => void): void => void requestAnimationFrame(() => setTimeout(then))

/** The same, after the next frame. */
export const keepFocus = (index?: number): void => whenDrawn(() => moveFocus(index))

const focusable = ':is(a[href], button, input, select, textarea):not(:disabled, [tabindex="-1"])'

/**
 * The `ref` of an element that can be removed by a control inside it. If it had the focus, the next sibling
 * gets it, else the previous one.
 */
export function focusBeside(piece: HTMLElement | null): (() => void) | undefined {
  if (!piece) return
  return () => {
    if (!piece.contains(document.activeElement)) return
    const parent = piece.parentElement
    const all = [...document.querySelectorAll<HTMLElement>(focusable)]
    const at = all.findIndex((one) => piece.contains(one))
    const beside = all.slice(at).filter((one) => parent?.contains(one) && !piece.contains(one))
    const places = [...beside, ...all.slice(0, at).reverse()]
    whenDrawn(() => {
      // If a whole page unmounts, all candidates except the frame go too.
      if (parent?.isConnected && document.activeElement === document.body)
        places.find((one) => one.isConnected && one.matches(focusable))?.focus()
    })
  }
}

/** Returns the focus to the button that started an edit, unless the person has moved it elsewhere. */
export function useFocusBack(editing: boolean, button: RefObject<HTMLElement | null>): void {
  const edited = useRef(false)
  useEffect(() => {
    if (edited.current && !editing && document.activeElement === document.body) button.current?.focus()
    edited.current = editing
  }, [editing, button])
}

/**
 * Focuses the first invalid field of a refused form that is drawn, else its button, which was disabled meanwhile. A quick
 * refusal leaves the focus on the button. A focus that is elsewhere stays, and the field comes into view.
 */
export function focusWrong(
  form: HTMLFormElement,
  button = form.querySelector<HTMLElement>('[type=submit]'),
): void {
  const focused = document.activeElement
  const wrong = form.querySelector<HTMLElement>('[aria-invalid=true]')
  const elsewhere = focused !== document.body && focused !== button && !focused?.matches('[role=dialog]')
  if (elsewhere) wrong?.scrollIntoView({ block: 'center' })
  else (wrong ?? button)?.focus()
}

/** The properties of a button that has nothing to do. A disabled one would lose the focus. */
export const off = (off: boolean) => (off ? { 'data-disabled': true, 'aria-disabled': true } : {})

const first_fields = 'input:not([type=hidden]), textarea, select, button'

/** The element that gets the focus back. For a menu item, which unmounts, the button of the menu. */
function openerOf(focused: Element | null): HTMLElement | null {
  const menu = focused?.closest('[role=menu]')
  const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : focused
  return opener as HTMLElement | null
}

/** The element itself; for a link that was drawn anew since, the one that has its place. */
export function redrawnOf(element: HTMLElement | null): HTMLElement | null | undefined {
  if (element?.isConnected || !(element instanceof HTMLAnchorElement)) return element
  const links = [...document.querySelectorAll('a')]
  return links.find(({ href, className }) => href === element.href && className === element.className)
}

/**
 * The `ref` of the content of a dialog or menu. When it mounts, focuses the element with data-autofocus,
 * else the first field. So keys that are typed at once go there and do not run commands. Returns the focus
 * when it unmounts. The dialog itself needs no transition and `returnFocus={false}`.
 */
export function focusFirst(holder: HTMLElement | null): (() => void) | undefined {
  if (!holder) return
  const opener = openerOf(document.activeElement)
  const first = holder.querySelector<HTMLElement>('[data-autofocus]') ?? holder.querySelector(first_fields)
  // The focus trap of the dialog looks for this attribute later.
  first?.setAttribute('data-autofocus', '')
  const take = () => (first as HTMLElement | null)?.focus({ preventScroll: true })
  take()
  // A menu returns the focus only after it has closed and its dialog has mounted.
  const keep = ({ target }: FocusEvent) => target === opener && take()
  document.addEventListener('focusin', keep)
  return () => {
    document.removeEventListener('focusin', keep)
    const now = document.activeElement
    const dialog = holder.closest('[role=dialog]') ?? holder
    if (now !== document.body && !dialog.contains(now)) return
    redrawnOf(opener)?.focus({ preventScroll: true })
    // The element may have unmounted since.
    keepFocus()
  }
}
