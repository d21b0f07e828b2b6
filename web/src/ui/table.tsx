import { Text } from '@mantine/core'
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { Path } from '../app/addresses.ts'
import { useCommands } from '../app/commands.ts'
import { useTexts } from '../texts/texts.ts'
import { Check } from './check.tsx'
import { type Drag, useColumnDrag } from './column-drag.ts'
import { useDrawn } from './drawn.ts'
import { moveFocus } from './focus.ts'
import type { RowGroup, ShownGroups } from './list-groups.ts'
import { GroupHead, MoreOfGroup, useWidth } from './table-groups.tsx'
import { type Column, HeadCell, type Identified, type Meta, Pager, Placeholder } from './table-parts.tsx'
import { TableRow, useCalls } from './table-row.tsx'
import './table.css'

export type { Column } from './table-parts.tsx'

export type TableProps<Row extends Identified> = {
  /** The name of the table for screen readers. */
  label: string
  columns: Column<Row>[]
  /** Undefined until the first answer. */
  rows: Row[] | undefined
  /** The groups of these rows, whose names are shown by `groupName`. */
  groups?: ShownGroups<Row> | null
  groupName?: (value: string | null) => React.ReactNode
  /** Placeholder data of the previous query: no row can be selected. */
  old?: boolean
  meta?: Meta | undefined
  /** The page that is asked for. Its rows may still be read. */
  page_asked_for?: number
  /** Shown instead of an empty table. */
  empty: React.ReactNode
  nameOf: (row: Row) => string
  /** The address of the page of a row. */
  hrefOf?: (row: Row) => Path
  /** A click on a row, such as to show it in the side panel. */
  onOpen?: (row: Row) => void
  open_id?: string | number | null
  sort?: string
  onSort?: (sort: string) => void
  /** Opens the next or the previous page. */
  onStep?: (by: 1 | -1) => void
  /** Moves a column to an index, after a drag of its header. */
  onMoveColumn?: ((id: string, to: number) => void) | undefined
  /** A control before the name, such as the circle that completes an activity. */
  lead?: { label: string; cell: (row: Row) => React.ReactNode }
  selected?: ReadonlySet<Row['id']>
  onSelect?: (selected: ReadonlySet<Row['id']>) => void
  /** Below the last row; scrolls with it. */
  foot?: React.ReactNode
}

/** Moves the focus to the next row when the focused row is removed. */
function useFocusedRow(rows: Identified[] | undefined) {
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

const row_px = 36

/** How a drag shows in the header of a column. */
function dragOf(drag: Drag | null, ids: readonly string[], id: string) {
  if (!drag) return undefined
  if (drag.id === id) return 'dragged'
  const others = ids.filter((one) => one !== drag.id)
  if (others[drag.to] === id) return 'before'
  return drag.to >= others.length && others.at(-1) === id ? 'after' : undefined
}

/**
 * One page of rows. j and k move between rows by the link in the first cell, x selects, a click opens.
 * While it loads, as many placeholder rows as before keep the layout still.
 */
export function DataTable<Row extends Identified>(props: TableProps<Row>) {
  const { label, columns, rows, meta, empty, nameOf, hrefOf, onOpen, open_id, sort, onSort, onStep } = props
  const { selected, onSelect, lead, groups, old = false } = props
  const t = useTexts()
  const scroll = useRef<HTMLDivElement>(null)
  const stops = '[data-row-link], [data-group-toggle]'
  const links = () => [...(scroll.current?.querySelectorAll<HTMLElement>(stops) ?? [])]
  const idOf = (link: HTMLElement | undefined) => link?.closest('tr')?.dataset.rowId
  const rowOf = (link: HTMLElement | undefined) => rows?.find(({ id }) => String(id) === idOf(link))
  // The focused row or group. If the focus is outside the list and a record is open, the row of that record.
  function at() {
    const all = links()
    const focused = all.indexOf(document.activeElement as HTMLElement)
    return focused < 0 && open_id ? all.findIndex((link) => idOf(link) === String(open_id)) : focused
  }

  const follow = useFollowing(open_id)
  const page = meta?.current_page
  const last_page = useRef(page)
  useLayoutEffect(() => {
    // Another page begins at its top. The first one is there already, and to scroll it would lay it out at once.
    if (last_page.current !== undefined && last_page.current !== page) scroll.current?.scrollTo(0, 0)
    last_page.current = page
  }, [page])

  function go(step: number) {
    const all = links()
    const from = at()
    const index =
      from < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, from + step))
    all[index]?.focus()
    const row = rowOf(all[index])
    if (row && open_id && onOpen) follow(() => onOpen(row))
  }
  const toggled = useRef<Row['id']>(undefined)
  /** With `range`, all rows from the last toggled one to this one become as this one. */
  const toggle = (row: Row, range = false) => {
    if (old || !rows) return
    const next = new Set<Row['id']>(selected)
    const selects = !next.has(row.id)
    const [at, from] = [row.id, range ? toggled.current : row.id].map((id) =>
      rows.findIndex((one) => one.id === id),
    )
    const ends = [at as number, from === -1 ? at : from] as number[]
    for (const { id } of rows.slice(Math.min(...ends), Math.max(...ends) + 1))
      selects ? next.add(id) : next.delete(id)
    toggled.current = row.id
    onSelect?.(next)
  }
  const calls = useCalls({ nameOf, hrefOf, onOpen, toggle, lead: lead?.cell })
  const by_key = { group: 'lists' as const, keys_only: true }
  const { keys } = t.app
  useCommands([
    {
      ...by_key,
      id: 'next-row',
      label: keys.next_row,
      keys: 'j',
      also: 'ArrowDown',
      repeats: true,
      run: () => go(1),
    },
    {
      ...by_key,
      id: 'previous-row',
      label: keys.previous_row,
      keys: 'k',
      also: 'ArrowUp',
      repeats: true,
      run: () => go(-1),
    },
  ])
  function toggleFocused() {
    const row = rowOf(links()[at()])
    if (row) toggle(row)
  }
  useCommands(
    [{ ...by_key, id: 'select-row', label: keys.select_row, keys: 'x', run: toggleFocused }],
    onSelect !== undefined,
  )

  const { drag, handlers } = useColumnDrag(props.onMoveColumn)
  const ids = columns.map(({ id }) => id)
  const cells = columns.length + (onSelect ? 1 : 0) + (lead ? 1 : 0)
  const width = useWidth(columns, onSelect !== undefined, lead !== undefined)
  const onFocus = useFocusedRow(rows)
  const drawn_rows = useDrawn(rows, row_px)
  if (groups?.groups ? !groups.groups.length : rows?.length === 0) return <>{empty}</>
  const drawn = (some: Row[]) =>
    some.map((row) => (
      <TableRow
        key={row.id}
        row={row}
        columns={columns}
        calls={calls}
        selectable={onSelect !== undefined}
        selected={selected?.has(row.id) ?? false}
        open={String(row.id) === String(open_id)}
        leads={lead !== undefined}
        opens={onOpen !== undefined}
      />
    ))
  const drawnGroup = (group: RowGroup<Row>) => (
    <tbody key={group.key}>
      <GroupHead
        group={group}
        name={props.groupName?.(group.value)}
        columns={width}
        onToggle={() => groups?.toggle(group)}
      />
      {group.rows ? drawn(group.rows) : <Placeholder columns={cells} rows={Math.min(group.count, 12)} />}
      {group.left > 0 && (
        <MoreOfGroup left={group.left} columns={width} onMore={() => groups?.readMore(group)} />
      )}
    </tbody>
  )
  const chosen = rows?.filter(({ id }) => selected?.has(id)).length ?? 0
  const all = chosen > 0 && chosen === rows?.length
  return (
    <div className="table-place">
      <div className="table-scroll" ref={scroll}>
        <table
          className="table"
          aria-label={label}
          aria-busy={!rows || old}
          {...onFocus}
          data-old={old || undefined}
          data-fixed={onSort !== undefined || undefined}
        >
          <thead>
            <tr {...handlers} data-movable={props.onMoveColumn !== undefined || undefined}>
              {onSelect && (
                <th className="table-check" scope="col">
                  <Check
                    aria-label={t.app.select_all}
                    checked={all}
                    indeterminate={!all && chosen > 0}
                    onChange={() => old || onSelect(new Set(all ? [] : (rows ?? []).map(({ id }) => id)))}
                  />
                </th>
              )}
              {lead && (
                <th className="table-lead" scope="col" data-phone>
                  <span className="unseen">{lead.label}</span>
                </th>
              )}
              {columns.map((column, index) => (
                <HeadCell
                  key={column.id}
                  column={index === 0 ? { ...column, phone: true } : column}
                  first={index === 0}
                  sort={sort}
                  onSort={onSort}
                  drag={dragOf(drag, ids, column.id)}
                />
              ))}
            </tr>
          </thead>
          {groups?.groups?.map(drawnGroup) ?? (
            <tbody>{drawn_rows && !groups ? drawn(drawn_rows) : <Placeholder columns={cells} />}</tbody>
          )}
        </table>
        {groups?.cut && (
          <Text size="sm" c="dimmed" className="table-groups-cut">
            {t.record.groups_cut({ n: groups.groups?.length ?? 0 })}
          </Text>
        )}
        {props.foot}
      </div>
      {meta && onStep && <Pager meta={meta} page_asked_for={props.page_asked_for} onStep={onStep} />}
    </div>
  )
}
