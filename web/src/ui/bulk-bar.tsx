import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useEffect, useRef } from 'react'
import { useCommands } from '../app/commands.ts'
import { useTexts } from '../texts/texts.ts'
import { keepFocus } from './focus.ts'
import { most_selected } from './whole-list.ts'
import './bulk-bar.css'

type Props = {
  page: {
    chosen: readonly unknown[]
    clear: () => void
    more: { total: number; count: number | null; select: () => Promise<void> } | null
  }
  children: React.ReactNode
}

/** The actions on the selected rows, in a bar over the list while rows are selected. */
export function BulkBar({ page, children }: Props) {
  const { more, clear } = page
  const count = page.chosen.length
  const t = useTexts()
  const focused = useRef(false)
  const row = useRef(0)
  // An action in the bar removes the bar. The focus moves to the first of the rows.
  useEffect(() => {
    if (count) {
      row.current = [...document.querySelectorAll('#content tbody tr[data-row-id]')].findIndex((one) =>
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
      aria-label={t.app.selected({ n: count })}
      onFocus={() => {
        focused.current = true
      }}
      onBlur={() => {
        focused.current = false
      }}
    >
      <Text size="sm" fw={500} className="numbers">
        {t.app.selected({ n: count })}
      </Text>
      {more && (
        <Button
          variant="subtle"
          aria-disabled={more.count !== null}
          onClick={() => more.count === null && more.select()}
        >
          {more.count !== null
            ? t.app.selecting({ n: more.count, of: Math.min(more.total, most_selected) })
            : more.total > most_selected
              ? t.app.select_first({ n: most_selected, of: more.total })
              : t.app.select_matching({ n: more.total })}
        </Button>
      )}
      {/* They would change the rows of this page only. */}
      <Group gap="xs" inert={Boolean(more && more.count !== null)}>
        {children}
      </Group>
      <ActionIcon aria-label={t.app.clear} onClick={clear}>
        <XIcon />
      </ActionIcon>
    </section>
  )
}
