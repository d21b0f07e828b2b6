import { ActionIcon, Group, Skeleton, Text } from '@mantine/core'
import { ArrowDownIcon, ArrowUpIcon, ChevronLeftIcon, ChevronRightIcon } from '@primer/octicons-react'
import type { Path } from '../app/addresses.ts'
import { Link } from '../app/link.ts'
import { useTexts } from '../texts/texts.ts'
import { off } from './focus.ts'

export type Column<Row> = {
  id: string
  label: string
  /** Short text, a link, or a small piece; empty cells stay empty. */
  cell: (row: Row) => React.ReactNode
  /** The API's order by this column, without the sign. `down`: descending on the first click. */
  sort?: string
  down?: boolean
  /** Right-aligned, with tabular figures. */
  number?: boolean
  /** In pixels at the usual text size. */
  width?: number
  /** It gets the room that the others leave. Left out of all columns: the first one does. */
  grows?: boolean
  /** Shown on a phone too; the first column always is. */
  phone?: boolean
  /** In the first column: the cell does not name the row, so its link is named by `nameOf`. */
  unnamed?: boolean
  /** Not shown until the reader chooses it. */
  extra?: boolean
}

/** The width of a column of a table whose columns have fixed widths (table.css), in pixels. */
export const widthOf = ({ width, number }: Pick<Column<never>, 'width' | 'number'>, first: boolean): number =>
  width ?? (first ? 208 : number ? 104 : 136)

/** The least width of such a table, in pixels. */
export const leastWidth = (columns: readonly Column<never>[], selects: boolean, leads: boolean): number =>
  columns.reduce((sum, column, at) => sum + widthOf(column, at === 0), (selects ? 36 : 0) + (leads ? 36 : 0))

/** The position of a page, from the API. */
export type Meta = { current_page?: number; last_page?: number; per_page?: number; total?: number }
export type Identified = { id: string | number }

/** The link in a row's first cell: opens the row's page, or does the same as a click on the row. */
export function RowLink({
  href,
  title,
  label,
  onOpen,
  children,
}: {
  href?: Path
  /** The full name, where the cell truncates it. */
  title: string
  /** The accessible name, where the cell does not have it. */
  label?: string | undefined
  onOpen?: () => void
  children: React.ReactNode
}) {
  // Not all parts of a cell are underlined under the pointer.
  const parts = typeof children !== 'string' || undefined
  if (href)
    return (
      <Link to={href} data-row-link data-parts={parts} className="row-link" title={title} aria-label={label}>
        {children}
      </Link>
    )
  if (!onOpen) return children
  return (
    <button
      type="button"
      data-row-link
      data-parts={parts}
      className="row-link"
      title={title}
      aria-label={label}
      onClick={onOpen}
    >
      {children}
    </button>
  )
}

type HeadProps<Row> = {
  column: Column<Row>
  first: boolean
  sort?: string
  onSort?: (sort: string) => void
  grows: boolean
  /** The element that sets its width. */
  edge: React.ReactNode
  /** Whether it is in the pointer's hand, or where beside it the column in the hand would go. */
  drag?: 'dragged' | 'before' | 'after' | undefined
}

/** The header of a column. A click sorts if the API can. */
export function HeadCell<Row>({ column, first: leads, sort, onSort, grows, edge, drag }: HeadProps<Row>) {
  const t = useTexts()
  const { label, number, width, phone } = column
  const down = sort === `-${column.sort}`
  const sorted = column.sort !== undefined && (down || sort === column.sort)
  const order = sorted ? (down ? 'descending' : 'ascending') : undefined
  const first = column.down ? `-${column.sort}` : column.sort
  const other = column.down ? column.sort : `-${column.sort}`
  return (
    <th
      scope="col"
      aria-sort={order}
      className={number ? 'number' : undefined}
      style={width ? ({ '--width': `${width / 16}rem` } as React.CSSProperties) : undefined}
      data-first={leads || undefined}
      data-grows={grows || undefined}
      data-column={column.id}
      data-drag={drag}
      title={label}
      // Without the name of its edge.
      aria-label={edge ? label : undefined}
      data-phone={phone || undefined}
    >
      {column.sort && onSort ? (
        <button
          type="button"
          className="sort-button"
          title={t.app.sort_by({ name: label })}
          onClick={() => onSort((sort === first ? other : first) ?? '')}
        >
          {label}
          {order === 'ascending' && <ArrowUpIcon size={12} />}
          {order === 'descending' && <ArrowDownIcon size={12} />}
        </button>
      ) : (
        label
      )}
      {edge}
    </th>
  )
}

/** Placeholder rows while the first answer is pending. */
export function Placeholder({ columns, rows = 12 }: { columns: number; rows?: number }) {
  return Array.from({ length: rows }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: rows that are only awaited have nothing else
    <tr key={row} aria-hidden>
      {Array.from({ length: columns }, (_, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <td key={column} data-first={column === 0 || undefined} data-phone={column < 2 || undefined}>
          <Skeleton height={10} width={`${40 + ((row * 7 + column * 13) % 45)}%`} />
        </td>
      ))}
    </tr>
  ))
}

type PagerProps = { meta: Meta; page_asked_for: number | undefined; onStep: (by: 1 | -1) => void }

/** The shown range, the total, and the buttons for other pages. They are off by the page that is asked for. */
export function Pager({ meta, page_asked_for, onStep }: PagerProps) {
  const t = useTexts()
  const { current_page = 1, last_page = 1, per_page = 0, total = 0 } = meta
  const at = page_asked_for ?? current_page
  if (last_page <= 1) return null
  const from = Math.min(total, (current_page - 1) * per_page + 1)
  const to = Math.min(total, current_page * per_page)
  return (
    <Group justify="flex-end" gap="sm" className="pager">
      <Text size="sm" c="dimmed" className="numbers">
        {t.app.range({ from, to, total })}
      </Text>
      <ActionIcon variant="default" aria-label={t.app.previous} {...off(at <= 1)} onClick={() => onStep(-1)}>
        <ChevronLeftIcon />
      </ActionIcon>
      <ActionIcon
        variant="default"
        aria-label={t.app.next}
        {...off(at >= last_page)}
        onClick={() => onStep(1)}
      >
        <ChevronRightIcon />
      </ActionIcon>
    </Group>
  )
}
