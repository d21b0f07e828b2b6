import { memo, useRef, useState } from 'react'
import type { Path } from '../app/addresses.ts'
import { useTexts } from '../texts/texts.ts'
import { Check } from './check.tsx'
import { type Column, type Identified, RowLink } from './table-parts.tsx'
import { visible } from './visible.ts'

type Given<Row> = {
  nameOf: (row: Row) => string
  hrefOf?: ((row: Row) => Path) | undefined
  onOpen?: ((row: Row) => void) | undefined
  toggle: (row: Row, range?: boolean) => void
  lead?: ((row: Row) => React.ReactNode) | undefined
}

/** Stable functions that call those of the latest drawing, so that no row is drawn again for a new function. */
export function useCalls<Row>(given: Given<Row>) {
  const latest = useRef(given)
  latest.current = given
  const [calls] = useState(() => ({
    nameOf: (row: Row) => latest.current.nameOf(row),
    hrefOf: (row: Row) => latest.current.hrefOf?.(row),
    onOpen: (row: Row) => latest.current.onOpen?.(row),
    toggle: (row: Row, range?: boolean) => latest.current.toggle(row, range),
    lead: (row: Row) => latest.current.lead?.(row),
  }))
  return calls
}

const shown = (cell: React.ReactNode) => (typeof cell === 'string' ? visible(cell) : cell)

type Props<Row> = {
  row: Row
  columns: Column<Row>[]
  calls: ReturnType<typeof useCalls<Row>>
  selectable: boolean
  selected: boolean
  /** Whether the side panel shows the record. */
  open: boolean
  leads: boolean
  opens: boolean
}

function Drawn<Row extends Identified>(props: Props<Row>) {
  const { row, columns, calls, selectable, selected, open, leads, opens } = props
  const t = useTexts()
  const name = calls.nameOf(row)
  const href = calls.hrefOf(row)
  return (
    <tr
      data-row-id={row.id}
      data-open={open || undefined}
      data-selected={selected || undefined}
      onClick={(event) => {
        const target = event.target as Element
        if (target.closest('a, button, input, label')) return
        // Beside the small box, a click selects, too.
        if (target.closest('.table-check')) calls.toggle(row, event.shiftKey)
        else if (opens) calls.onOpen(row)
      }}
    >
      {selectable && (
        <td className="table-check">
          <Check
            aria-label={t.app.select_row({ name })}
            checked={selected}
            onChange={({ nativeEvent }) => calls.toggle(row, (nativeEvent as MouseEvent).shiftKey)}
          />
        </td>
      )}
      {leads && (
        <td className="table-lead" data-phone>
          {calls.lead(row)}
        </td>
      )}
      {columns.map((column, index) => (
        <td
          key={column.id}
          className={column.number ? 'number numbers' : undefined}
          data-first={index === 0 || undefined}
          data-phone={index === 0 || column.phone || undefined}
        >
          {index === 0 ? (
            <RowLink
              title={name}
              label={column.unnamed ? name : undefined}
              {...(href !== undefined && { href })}
              {...(opens && { onOpen: () => calls.onOpen(row) })}
            >
              {shown(column.cell(row))}
            </RowLink>
          ) : (
            shown(column.cell(row))
          )}
        </td>
      ))}
    </tr>
  )
}

/** A row of a table, drawn again only when it, its columns or its state change. */
export const TableRow = memo(Drawn) as typeof Drawn
