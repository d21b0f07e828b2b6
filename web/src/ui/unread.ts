import { useLayoutEffect, useRef, useState } from 'react'

/**
 * Whether the text of an input is invalid. The input says so, and a form with such an input is not sent
 * (`unreadIn`), because its value differs from the visible text.
 */
export function useUnread() {
  const input = useRef<HTMLInputElement>(null)
  const [unread, setUnread] = useState(false)
  useLayoutEffect(() => input.current?.setCustomValidity(unread ? 'unread' : ''), [unread])
  return { input, unread, setUnread }
}

/** The first input of a form with an invalid text. */
export const unreadIn = (form: HTMLFormElement): HTMLInputElement | undefined =>
  [...form.querySelectorAll('input')].find(({ validity }) => validity.customError)
