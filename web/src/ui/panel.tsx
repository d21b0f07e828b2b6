import { ActionIcon } from '@mantine/core'
import { LinkExternalIcon, XIcon } from '@primer/octicons-react'
import { useEffect, useRef, useState } from 'react'
import type { Path } from '../app/addresses.ts'
import { Link } from '../app/link.ts'
import { useTexts } from '../texts/texts.ts'
import { keepFocus } from './focus.ts'
import './panel.css'

type Props = { label: string; href: Path; onClose: () => void; children: React.ReactNode }

// A menu, dialog or text field handles Escape itself.
const over = '[role=dialog], [role=menu], [role=listbox]'

/** A record in the panel beside its list. Escape closes it; the list stays usable. */
export function SidePanel({ label, href, onClose, children }: Props) {
  const t = useTexts()
  const [before] = useState(() => document.activeElement as HTMLElement | null)
  const shown = useRef(href)
  shown.current = href
  // On close, focus the row of the last record, else the previous element, unless the focus has moved
  // elsewhere. At once: a record that is deleted has its row for a moment only.
  useEffect(
    () => () => {
      const row = document.querySelector<HTMLElement>(`#content tr a[data-row-link][href="${shown.current}"]`)
      if (document.activeElement === document.body) (row ?? before)?.focus()
      keepFocus()
    },
    [before],
  )
  useEffect(() => {
    let covered = false
    // In the capture phase: a menu or dialog that handles the key is gone afterwards.
    const onDown = () => {
      covered = document.querySelector(over) !== null
    }
    const onKey = ({ key, target, defaultPrevented }: KeyboardEvent) => {
      const written = target instanceof Element && target.closest('input, textarea')
      if (key === 'Escape' && !defaultPrevented && !covered && !written) onClose()
    }
    window.addEventListener('keydown', onDown, { capture: true })
    window.addEventListener('keydown', onKey)
    return () => {
      window.removeEventListener('keydown', onDown, { capture: true })
      window.removeEventListener('keydown', onKey)
    }
  }, [onClose])
  return (
    <aside className="panel" aria-label={label}>
      <div className="panel-line">
        <ActionIcon component={Link} to={href} aria-label={t.app.open_page}>
          <LinkExternalIcon />
        </ActionIcon>
        <ActionIcon aria-label={t.app.close} onClick={onClose}>
          <XIcon />
        </ActionIcon>
      </div>
      {children}
    </aside>
  )
}
