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

const focusable = ':is(a[href], button, input, select, textarea):not(:disabled, [tabindex="-1"])'

/**
 * The `ref` of a piece that can be taken away from within: when it goes with the focus, what follows beside it takes it, else
 * the last before it.
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
    requestAnimationFrame(() => {
      // With a whole page, all of them go but what frames it.
      if (parent?.isConnected && document.activeElement === document.body)
        places.find((one) => one.isConnected && one.matches(focusable))?.focus()
    })
  }
}

/** Gives the focus back to what began an edit when the edit has ended, unless whoever edited has gone on to something else. */
export function useFocusBack(editing: boolean, button: RefObject<HTMLElement | null>): void {
  const edited = useRef(false)
  useEffect(() => {
    if (edited.current && !editing && document.activeElement === document.body) button.current?.focus()
    edited.current = editing
  }, [editing, button])
}

/** After a form was refused: the first field that is wrong takes the focus, else its button, which was off meanwhile. */
export const focusWrong = (form: HTMLFormElement): void =>
  void requestAnimationFrame(() => {
    if (document.activeElement !== document.body && !document.activeElement?.matches('[role=dialog]')) return
    const wrong = form.querySelector<HTMLElement>('[aria-invalid=true]')
    ;(wrong ?? form.querySelector<HTMLElement>('[type=submit]'))?.focus()
  })

const first_fields = 'input:not([type=hidden]), textarea, select, button'

/** What the focus goes back to: of an entry of a menu, which goes with it, the menu's button. */
function openerOf(focused: Element | null): HTMLElement | null {
  const menu = focused?.closest('[role=menu]')
  const opener = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : focused
  return opener as HTMLElement | null
}

/**
 * The `ref` of what a dialog or a menu holds: puts the focus into it at the moment it is shown, so that letters typed at once
 * go there and run no commands; onto what has data-autofocus, else onto its first field. When it goes, the focus goes back.
 * The dialog itself has to be shown without a transition, and to return no focus.
 */
export function focusFirst(holder: HTMLElement | null): (() => void) | undefined {
  if (!holder) return
  const opener = openerOf(document.activeElement)
  const first = holder.querySelector<HTMLElement>('[data-autofocus]') ?? holder.querySelector(first_fields)
  // The dialog's own trap looks for it a moment later.
  first?.setAttribute('data-autofocus', '')
  const take = () => (first as HTMLElement | null)?.focus({ preventScroll: true })
  take()
  // A menu gives the focus back when it is closed already, and what it has opened is there.
  const keep = ({ target }: FocusEvent) => target === opener && take()
  document.addEventListener('focusin', keep)
  return () => {
    document.removeEventListener('focusin', keep)
    const now = document.activeElement
    const dialog = holder.closest('[role=dialog]') ?? holder
    if (now !== document.body && !dialog.contains(now)) return
    opener?.focus({ preventScroll: true })
    // It may have gone meanwhile.
    keepFocus()
  }
}
