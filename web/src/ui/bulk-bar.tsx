import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { useCommands } from '../app/commands.ts'
import { useTexts } from '../texts/texts.ts'
import { keepFocus } from './focus.ts'
import type { Meta } from './table-parts.tsx'
import { most_selected } from './whole-list.ts'
import './bulk-bar.css'

type Props = {
  page: {
    chosen: readonly unknown[]
    clear: () => void
    meta: Meta | undefined
    more: { select: () => Promise<void> } | null
    reading: number | null
  }
  children: React.ReactNode
}

/** The actions on the selected rows, in a bar over the list while rows are selected, or read to be selected. */
export function BulkBar({ page, children }: Props) {
  const { more, reading, clear } = page
  const waits = reading !== null
  const total = page.meta?.total ?? 0
  const count = page.chosen.length
  // Another page has none of the selected rows until all rows are read.
  const shown = count > 0 || waits
  const t = useTexts()
  const focused = useRef(false)
  const row = useRef(0)
  // An action in the bar removes the bar. The focus moves to the first of the rows.
  useEffect(() => {
    if (count) {
      row.current = [...document.querySelectorAll('#content tbody tr[data-row-id]')].findIndex((one) =>
        one.matches('[data-selected]'),
      )
    } else if (!shown && focused.current) {
      focused.current = false
      keepFocus(Math.max(0, row.current))
    }
  }, [count, shown])
  const bar = useRef<HTMLElement>(null)
  // The lines of the bar depend on the screen, and toasts stand above them.
  useLayoutEffect(() => {
    const shown_bar = bar.current
    if (!shown || !shown_bar) return
    const { style } = document.body
    const observer = new ResizeObserver(() => style.setProperty('--bulk-bar', `${shown_bar.offsetHeight}px`))
    observer.observe(shown_bar)
    return () => observer.disconnect()
  }, [shown])
  const first = useCallback(() => bar.current?.querySelector('button')?.focus(), [])
  const offers = waits || more !== null
  // The button that selects all removes itself.
  useEffect(() => {
    if (count && !offers && focused.current && document.activeElement === document.body) first()
  }, [count, offers, first])
  const label = t.app.keys.selection
  useCommands([{ id: 'to-selection', label, group: 'lists', keys: '.', run: first }], shown)
  if (!shown) return null
  const progress = t.app.selecting({ n: reading ?? 0, of: Math.min(total, most_selected) })
  return (
    <section
      ref={bar}
      className="bulk-bar"
      aria-label={count ? t.app.selected({ n: count }) : progress}
      onFocus={() => {
        focused.current = true
      }}
      onBlur={() => {
        focused.current = false
      }}
    >
      {count > 0 && (
        <Text size="sm" fw={500} className="numbers">
          {t.app.selected({ n: count })}
        </Text>
      )}
      {offers && (
        <Button variant="subtle" aria-disabled={waits} onClick={() => waits || more?.select()}>
          {waits
            ? progress
            : total > most_selected
              ? t.app.select_first({ n: most_selected, of: total })
              : t.app.select_matching({ n: total })}
        </Button>
      )}
      {/* The actions would change only the rows of this page. */}
      <Group gap="xs" inert={waits}>
        {children}
      </Group>
      <ActionIcon aria-label={t.app.clear} onClick={clear}>
        <XIcon />
      </ActionIcon>
    </section>
  )
}
