import { Text } from '@mantine/core'
import { useLayoutEffect, useRef } from 'react'
import type { Path } from '../app/addresses.ts'
import { useTexts } from '../texts/texts.ts'
import { useDrawn } from './drawn.ts'
import type { RowGroup, ShownGroups } from './list-groups.ts'
import { GroupHead, MoreOfGroup, useWidth } from './table-groups.tsx'
import { TableHead } from './table-head.tsx'
import { useFocusedRow, useRowKeys } from './table-keys.ts'
import { type Column, type Identified, leastWidth, type Meta, Pager, Placeholder } from './table-parts.tsx'
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
  /** Sets the width of a column. Null: its usual one. */
  onColumnWidth?: (id: string, width: number | null) => void
  /** A control before the name, such as the circle that completes an activity. */
  lead?: { label: string; cell: (row: Row) => React.ReactNode }
  selected?: ReadonlySet<Row['id']>
  onSelect?: (selected: ReadonlySet<Row['id']>) => void
  /** Below the last row; scrolls with it. */
  foot?: React.ReactNode
}

const row_px = 36

/** Selects a row or takes it out. With `range`, all rows from the last toggled one to this one become as this one. */
function useToggle<Row extends Identified>({ rows, old, selected, onSelect }: TableProps<Row>) {
  const toggled = useRef<Row['id']>(undefined)
  return (row: Row, range = false) => {
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
}

/**
 * One page of rows. j and k move between rows by the link in the first cell, x selects, a click opens.
 * While it loads, as many placeholder rows as before keep the layout still.
 */
export function DataTable<Row extends Identified>(props: TableProps<Row>) {
  const { label, columns, rows, meta, empty, nameOf, hrefOf, onOpen, open_id, onSort, onStep } = props
  const { selected, onSelect, lead, groups, old = false } = props
  const t = useTexts()
  const scroll = useRef<HTMLDivElement>(null)
  const page = meta?.current_page
  const last_page = useRef(page)
  useLayoutEffect(() => {
    // Another page begins at its top. The first one is there already, and to scroll it would lay it out at once.
    if (last_page.current !== undefined && last_page.current !== page) scroll.current?.scrollTo(0, 0)
    last_page.current = page
  }, [page])

  const toggle = useToggle(props)
  const calls = useCalls({ nameOf, hrefOf, onOpen, toggle, lead: lead?.cell })
  useRowKeys(scroll, { rows, open_id, onOpen, toggle: onSelect && toggle })
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
          style={
            {
              '--least': `${leastWidth(columns, onSelect !== undefined, lead !== undefined) / 16}rem`,
            } as React.CSSProperties
          }
        >
          <TableHead {...props} />
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
