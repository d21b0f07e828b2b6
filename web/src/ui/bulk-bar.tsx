import { ActionIcon, Group, Text } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useEffect, useRef } from 'react'
import { useCommands } from '../app/commands.ts'
import { useTexts } from '../texts/texts.ts'
import { keepFocus } from './focus.ts'
import './bulk-bar.css'

/** The actions on the selected rows, in a bar over the list while rows are selected. */
export function BulkBar({
  count,
  onClear,
  children,
}: {
  count: number
  onClear: () => void
  children: React.ReactNode
}) {
  const t = useTexts()
  const focused = useRef(false)
  const row = useRef(0)
  // An action in the bar removes the bar. The focus moves to the first of the rows.
  useEffect(() => {
    if (count) {
      row.current = [...document.querySelectorAll('#content tbody tr')].findIndex((one) =>
        one.matches('[data-selected]'),
      )
    } else if (focused.current) {
      focused.current = false
      keepFocus(Math.max(0, row.current))
    }
  }, [count])
  const bar = useRef<HTMLElement>(null)
  const first = () => bar.current?.querySelector('button')?.focus()
  const label = t.app.keys.selection
  useCommands([{ id: 'to-selection', label, group: 'lists', keys: '.', run: first }], count > 0)
  if (!count) return null
  return (
    <section
      ref={bar}
      className="bulk-bar"
      aria-label={t.app.selected(count)}
      onFocus={() => {
        focused.current = true
      }}
      onBlur={() => {
        focused.current = false
      }}
    >
      <Text size="sm" fw={500} className="numbers">
        {t.app.selected(count)}
      </Text>
      <Group gap="xs">{children}</Group>
      <ActionIcon aria-label={t.app.clear} onClick={onClear}>
        <XIcon />
      </ActionIcon>
    </section>
  )
}
