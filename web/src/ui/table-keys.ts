import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { useCommands } from '../app/commands.ts'
import { useTexts } from '../texts/texts.ts'
import { moveFocus } from './focus.ts'
import type { TableProps } from './table.tsx'
import type { Identified } from './table-parts.tsx'

/** Moves the focus to the next row when the focused row is removed. */
export function useFocusedRow(rows: Identified[] | undefined) {
  const focused = useRef<{ id: string; index: number } | null>(null)
  // In a layout effect, before other code sees that nothing has the focus.
  useLayoutEffect(() => {
    const at = focused.current
    if (!at || !rows || rows.some(({ id }) => String(id) === at.id)) return
    focused.current = null
    moveFocus(at.index)
  }, [rows])
  return {
    onFocus: ({ target }: React.FocusEvent) => {
      const row = target.closest<HTMLElement>('tr')
      const all = [...(row?.closest('table')?.querySelectorAll('tr[data-row-id]') ?? [])]
      if (row?.dataset.rowId) focused.current = { id: row.dataset.rowId, index: all.indexOf(row) }
    },
    // React fires no blur for a removed element.
    onBlur: () => {
      focused.current = null
    },
  }
}

// A held key repeats faster than records load.
const held_ms = 120

/** The side panel follows the focus: at once, but while a key is held, only when it is released. */
function useFollowing(open_id: unknown): (open: () => void) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const last_at = useRef(0)
  const closed = !open_id
  useEffect(() => {
    if (closed) clearTimeout(timer.current)
    return () => clearTimeout(timer.current)
  }, [closed])
  return (open) => {
    clearTimeout(timer.current)
    const held = performance.now() - last_at.current < held_ms
    last_at.current = performance.now()
    if (held) timer.current = setTimeout(open, held_ms)
    else open()
  }
}

const stops = '[data-row-link], [data-group-toggle]'

type Keyed<Row extends Identified> = Pick<TableProps<Row>, 'rows' | 'open_id' | 'onOpen'> & {
  /** Selects a row. Left out of a table without a selection. */
  toggle: ((row: Row) => void) | undefined
}

/** The keys of a table: j and k move the focus between its rows and groups, x selects. */
export function useRowKeys<Row extends Identified>(
  table: RefObject<HTMLElement | null>,
  { rows, open_id, onOpen, toggle }: Keyed<Row>,
) {
  const { keys } = useTexts().app
  const follow = useFollowing(open_id)
  const links = () => [...(table.current?.querySelectorAll<HTMLElement>(stops) ?? [])]
  const idOf = (link: HTMLElement | undefined) => link?.closest('tr')?.dataset.rowId
  const rowOf = (link: HTMLElement | undefined) => rows?.find(({ id }) => String(id) === idOf(link))
  // The focused row or group. If the focus is outside the list and a record is open, the row of that record.
  function at() {
    const all = links()
    const focused = all.indexOf(document.activeElement as HTMLElement)
    return focused < 0 && open_id ? all.findIndex((link) => idOf(link) === String(open_id)) : focused
  }
  const go = (step: 1 | -1) => () => {
    const all = links()
    const from = at()
    const index =
      from < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, from + step))
    all[index]?.focus()
    const row = rowOf(all[index])
    if (row && open_id && onOpen) follow(() => onOpen(row))
  }
  function toggleFocused() {
    const row = rowOf(links()[at()])
    if (row) toggle?.(row)
  }
  const by_key = { group: 'lists' as const, keys_only: true }
  const moves = { ...by_key, repeats: true }
  useCommands([
    { ...moves, id: 'next-row', label: keys.next_row, keys: 'j', also: 'ArrowDown', run: go(1) },
    { ...moves, id: 'previous-row', label: keys.previous_row, keys: 'k', also: 'ArrowUp', run: go(-1) },
  ])
  useCommands(
    [{ ...by_key, id: 'select-row', label: keys.select_row, keys: 'x', run: toggleFocused }],
    toggle !== undefined,
  )
}
