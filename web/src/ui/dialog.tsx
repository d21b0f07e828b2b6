import { Modal, type ModalProps } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTexts } from '../texts/texts.ts'

/** A dialog. The way back closes it and stays on the page; one that Escape does not close stays open. */
export function Dialog({ closeOnEscape = true, ...props }: ModalProps) {
  const t = useTexts()
  useBack(props.opened, () => closeOnEscape && props.onClose())
  return <Modal closeButtonProps={{ 'aria-label': t.app.close }} closeOnEscape={closeOnEscape} {...props} />
}

/** While a dialog is open, the way back runs `onBack` instead. */
function useBack(opened: boolean, onBack: () => void): void {
  const { history } = useRouter()
  const latest = useRef(onBack)
  latest.current = onBack
  useEffect(() => {
    if (!opened) return
    return history.block({
      enableBeforeUnload: false,
      blockerFn({ action }: { action: string }) {
        if (action !== 'BACK') return false
        // The router goes forward again. A change of the address before that would change the wrong entry.
        window.addEventListener('popstate', () => latest.current(), { once: true })
        return true
      },
    })
  }, [opened, history])
}
