import { useIdle } from '../app/idle.ts'
import { latePart } from '../app/late.ts'
import { useTexts } from '../texts/texts.ts'
import { Check } from './check.tsx'
import { type Drag, useColumnDrag } from './column-drag.ts'
import type { TableProps } from './table.tsx'
import { HeadCell, type Identified, widthOf } from './table-parts.tsx'

// Nobody needs it at once.
const edge = latePart(async () => (await import('./column-width.tsx')).ColumnEdge)

/** How a drag shows in the header of a column. */
function dragOf(drag: Drag | null, ids: readonly string[], id: string) {
  if (!drag) return undefined
  if (drag.id === id) return 'dragged'
  const others = ids.filter((one) => one !== drag.id)
  if (others[drag.to] === id) return 'before'
  return drag.to >= others.length && others.at(-1) === id ? 'after' : undefined
}

/** The headers of a table. A drag moves a column, and the first box selects all rows. */
export function TableHead<Row extends Identified>(props: TableProps<Row>) {
  const {
    columns,
    rows = [],
    sort,
    onSort,
    selected,
    onSelect,
    onMoveColumn,
    onColumnWidth,
    lead,
    old,
  } = props
  const t = useTexts()
  const { drag, handlers } = useColumnDrag(onMoveColumn)
  const idle = useIdle()
  const Edge = edge.usePart(idle && onColumnWidth !== undefined, () => {})
  const ids = columns.map(({ id }) => id)
  const growing = columns.find(({ grows }) => grows) ?? columns[0]
  const chosen = rows.filter(({ id }) => selected?.has(id)).length
  const all = chosen > 0 && chosen === rows.length
  const waits = old || !rows.length
  return (
    <thead>
      <tr {...handlers} data-movable={onMoveColumn !== undefined || undefined}>
        {onSelect && (
          <th className="table-check" scope="col">
            <Check
              aria-label={t.app.select_all}
              checked={all}
              indeterminate={!all && chosen > 0}
              aria-disabled={waits || undefined}
              onChange={() => waits || onSelect(new Set(all ? [] : rows.map(({ id }) => id)))}
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
            grows={column === growing}
            edge={
              onColumnWidth &&
              Edge && (
                <Edge
                  name={column.label}
                  width={widthOf(column, index === 0)}
                  onWidth={(width) => onColumnWidth(column.id, width)}
                />
              )
            }
            drag={dragOf(drag, ids, column.id)}
          />
        ))}
      </tr>
    </thead>
  )
}
