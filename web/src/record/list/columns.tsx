import { ActionIcon, Group, Stack, Text } from '@mantine/core'
import { ArrowDownIcon, ArrowUpIcon, ColumnsIcon } from '@primer/octicons-react'
import { type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useTexts } from '../../texts/texts.ts'
import { Check } from '../../ui/check.tsx'
import {
  moveColumn,
  readWidths,
  toggleColumn,
  type Widths,
  withHidden,
  writeWidths,
} from '../../ui/column-order.ts'
import { Popover } from '../../ui/floating.tsx'
import { off } from '../../ui/focus.ts'
import { useAddress } from '../../ui/list-view.ts'
import type { Column } from '../../ui/table.tsx'

type ChosenColumns<Row> = {
  /** All columns: the shown ones in their order, the others between them. */
  all: Column<Row>[]
  /** The visible columns in their order. */
  shown: Column<Row>[]
  /** The ids of the visible columns, with a change that is not drawn yet. */
  latestIds: () => string[]
  toggle: (id: string) => void
  /** Moves a visible column to an index among the visible ones. */
  move: (id: string, to: number) => void
  /** Sets the width of a visible column, in pixels at the usual text size. Null: its usual one. */
  resize: (id: string, width: number | null) => void
}

/**
 * The visible columns of a list in their order, with own widths. They are those of `columns` in the address, else the last choice on
 * this device. Else they are all but extra ones in the order of the list. The first column is always visible.
 */
export function useColumns<Row>(name: string, columns: Column<Row>[]): ChosenColumns<Row> {
  const { address, latest, change } = useAddress()
  const key = `rapport-columns-${name}`
  const in_address = address.columns
  // A choice on this device may leave the address as it is.
  const [chosen, setChosen] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each choice reads what is kept
  return useMemo(() => {
    const by_id = new Map(columns.map((column) => [column.id, column]))
    const columnsOf = (ids: readonly string[]) => ids.flatMap((id) => by_id.get(id) ?? [])
    const all = [...by_id.keys()]
    const usual = columns.flatMap(({ id, extra }) => (extra ? [] : [id]))
    const shownBy = (said: string | undefined) =>
      readWidths(said ?? localStorage.getItem(key) ?? usual.join(','), all)
    const widths = shownBy(in_address)
    const ids = [...widths.keys()]
    const latestWidths = () => shownBy(latest().columns)
    const latestIds = () => [...latestWidths().keys()]
    function choose(next: readonly string[], own = latestWidths()) {
      const text = writeWidths(next, own)
      const back = text === usual.join(',')
      if (back) localStorage.removeItem(key)
      else localStorage.setItem(key, text)
      setChosen((n) => n + 1)
      change({ columns: back ? null : text }, true)
    }
    return {
      all: columnsOf(withHidden(all, ids)),
      shown: sized(columnsOf(ids), widths),
      latestIds,
      toggle: (id: string) => choose(toggleColumn(all, latestIds(), id)),
      move: (id: string, to: number) => choose(moveColumn(latestIds(), id, to)),
      resize: (id: string, width: number | null) =>
        choose(latestIds(), latestWidths().set(id, width ?? undefined)),
    }
  }, [columns, in_address, chosen, key, latest, change])
}

/** Columns with their own widths. One without an own width gets the room that is left. */
function sized<Row>(columns: Column<Row>[], widths: Widths): Column<Row>[] {
  const free = columns.filter(({ id }) => widths.get(id) === undefined)
  if (free.length === columns.length) return columns
  const growing = free.find(({ grows }) => grows) ?? free[0]
  return columns.map((column) => {
    const width = widths.get(column.id)
    return { ...column, grows: column === growing, ...(width !== undefined && { width }) }
  })
}

/** Returns the focus to a control that a move of its row took it from. Null: to none. */
function useKeptFocus(order: unknown) {
  const wanted = useRef<HTMLElement | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another order moves the rows
  useLayoutEffect(() => {
    if (document.activeElement === document.body) wanted.current?.focus()
  }, [order])
  return (element: Element | null) => {
    wanted.current = element as HTMLElement | null
  }
}

/** The menu that chooses columns, and moves them by buttons or Alt with an arrow. */
export function ColumnsMenu<Row>({ columns }: { columns: ChosenColumns<Row> }) {
  const t = useTexts()
  const { all, shown, latestIds, toggle, move } = columns
  const [moved, setMoved] = useState('')
  const keepFocus = useKeptFocus(all)
  function step({ id, label }: Column<Row>, by: number) {
    const ids = latestIds()
    const to = ids.indexOf(id) + by
    if (to < 1 || to >= ids.length) return
    keepFocus(document.activeElement)
    setMoved(t.app.column_moved({ name: label, at: to + 1, of: ids.length }))
    move(id, to)
  }
  function onKeyDown(event: KeyboardEvent, column: Column<Row>) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (!event.altKey || by === undefined) return
    event.preventDefault()
    event.stopPropagation()
    step(column, by)
  }
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        {/* A phone has room for the columns of its own choice only. */}
        <ActionIcon
          variant="default"
          size={30}
          className="not-on-phone"
          aria-label={t.app.columns}
          title={t.app.columns}
        >
          <ColumnsIcon />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={t.app.columns} mah="70dvh" style={{ overflowY: 'auto' }}>
        <Stack gap={6}>
          {all.slice(1).map((column) => {
            const at = shown.indexOf(column)
            return (
              <Group
                key={column.id}
                justify="space-between"
                wrap="nowrap"
                mih={24}
                onKeyDown={(event) => onKeyDown(event, column)}
              >
                <Check
                  label={column.label}
                  checked={at > 0}
                  aria-keyshortcuts={at > 0 ? 'Alt+ArrowUp Alt+ArrowDown' : undefined}
                  onChange={() => {
                    keepFocus(null)
                    toggle(column.id)
                  }}
                />
                {at > 0 && (
                  <Group gap={2} wrap="nowrap">
                    <ActionIcon
                      variant="subtle"
                      size={24}
                      aria-label={t.app.column_up({ name: column.label })}
                      title={t.app.column_up({ name: column.label })}
                      onClick={() => step(column, -1)}
                      {...off(at === 1)}
                    >
                      <ArrowUpIcon size={14} />
                    </ActionIcon>
                    <ActionIcon
                      variant="subtle"
                      size={24}
                      aria-label={t.app.column_down({ name: column.label })}
                      title={t.app.column_down({ name: column.label })}
                      onClick={() => step(column, 1)}
                      {...off(at === shown.length - 1)}
                    >
                      <ArrowDownIcon size={14} />
                    </ActionIcon>
                  </Group>
                )}
              </Group>
            )
          })}
        </Stack>
        <Text size="xs" c="dimmed" mt="xs">
          {t.app.columns_hint}
        </Text>
        <span role="status" className="unseen">
          {moved}
        </span>
      </Popover.Dropdown>
    </Popover>
  )
}
