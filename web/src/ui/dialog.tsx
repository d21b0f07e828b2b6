import { Modal, type ModalProps } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTexts } from '../texts/texts.ts'

/** A dialog. Back closes it and stays on the page. With `closeOnEscape={false}`, Back leaves it open. */
export function Dialog({ closeOnEscape = true, ...props }: ModalProps) {
  const t = useTexts()
  useBack(props.opened, () => closeOnEscape && props.onClose())
  return <Modal closeButtonProps={{ 'aria-label': t.app.close }} closeOnEscape={closeOnEscape} {...props} />
}

// The open dialogs: Back is for the last one, but the router asks the first one first.
const open: object[] = []

/** While a dialog is open, Back runs `onBack` instead. */
function useBack(opened: boolean, onBack: () => void): void {
  const { history } = useRouter()
  const latest = useRef(onBack)
  latest.current = onBack
  useEffect(() => {
    if (!opened) return
    const me = {}
    open.push(me)
    const unblock = history.block({
      enableBeforeUnload: false,
      blockerFn({ action }: { action: string }) {
        if (action !== 'BACK' || open.at(-1) !== me) return false
        // The router goes forward again. A change of the address before that would change the wrong entry.
        window.addEventListener('popstate', () => latest.current(), { once: true })
        return true
      },
    })
    return () => {
      open.splice(open.indexOf(me), 1)
      unblock()
    }
  }, [opened, history])
}
