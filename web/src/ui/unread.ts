import { useLayoutEffect, useRef, useState } from 'react'

/**
 * Whether what stands in an input is nothing that it takes. The input says so itself; a form with such an input is not sent
 * (`unreadIn`), for the value that it has is not what its reader sees.
 */
export function useUnread() {
  const input = useRef<HTMLInputElement>(null)
  const [unread, setUnread] = useState(false)
  useLayoutEffect(() => input.current?.setCustomValidity(unread ? 'unread' : ''), [unread])
  return { input, unread, setUnread }
}

/** The first input of a form that cannot be read. */
export const unreadIn = (form: HTMLFormElement): HTMLInputElement | undefined =>
  [...form.querySelectorAll('input')].find(({ validity }) => validity.customError)
