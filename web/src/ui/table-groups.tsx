import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { ChevronDownIcon, ChevronRightIcon } from '@primer/octicons-react'
import type { KeyboardEvent, ReactNode } from 'react'
import { useFormats } from '../app/formats.ts'
import { useTexts } from '../texts/texts.ts'
import type { RowGroup } from './list-groups.ts'

/** The number of columns that are drawn. On a phone, a wider cell would add empty ones. */
export function useWidth(columns: readonly { phone?: boolean }[], selects: boolean, leads: boolean): number {
  const phone = useMediaQuery('(max-width: 40em)', false, { getInitialValueInEffect: false })
  const shown = phone ? columns.filter((column, index) => index === 0 || column.phone) : columns
  return shown.length + (selects ? 1 : 0) + (leads ? 1 : 0)
}

type Props = {
  group: Pick<RowGroup<unknown>, 'count' | 'sums' | 'open'>
  name: ReactNode
  columns: number
  onToggle: () => void
}

/** The header of a group: its name, its count and its sum. A click, Enter, ← or → opens and closes it. */
export function GroupHead({ group: { count, sums, open }, name, columns, onToggle }: Props) {
  const formats = useFormats()
  function onKeyDown({ key }: KeyboardEvent) {
    if (key === (open ? 'ArrowLeft' : 'ArrowRight')) onToggle()
  }
  const Sign = open ? ChevronDownIcon : ChevronRightIcon
  return (
    <tr className="table-group">
      <th scope="rowgroup" colSpan={columns} data-phone>
        <button
          type="button"
          className="group-button"
          data-group-toggle
          aria-expanded={open}
          onClick={onToggle}
          onKeyDown={onKeyDown}
        >
          <Sign size={14} />
          <span className="group-name">{name}</span>
          <span className="numbers">{formats.number(count)}</span>
          {sums?.value !== undefined && <span className="numbers">{formats.sum(sums.value)}</span>}
        </button>
      </th>
    </tr>
  )
}

/** Reads the next rows of a group. */
export function MoreOfGroup({
  left,
  columns,
  onMore,
}: {
  left: number
  columns: number
  onMore: () => void
}) {
  const t = useTexts()
  return (
    <tr className="table-group-more">
      <td colSpan={columns} data-phone>
        <Button variant="subtle" size="compact-sm" onClick={onMore}>
          {t.record.more_of_group({ n: left })}
        </Button>
      </td>
    </tr>
  )
}
