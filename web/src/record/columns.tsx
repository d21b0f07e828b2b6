import { ActionIcon, Checkbox, Popover, Stack } from '@mantine/core'
import { ColumnsIcon } from '@primer/octicons-react'
import { useMemo } from 'react'
import { useTexts } from '../texts/texts.ts'
import { useAddress } from '../ui/list-view.ts'
import type { Column } from '../ui/table.tsx'

type ChosenColumns<Row> = {
  all: Column<Row>[]
  /** The visible columns, in the order of the list. */
  shown: Column<Row>[]
  toggle: (id: string) => void
}

/**
 * The visible columns of a list: those of `columns` in the address, else the last choice on this device,
 * else all but extra ones. The first column is always visible.
 */
export function useColumns<Row>(name: string, columns: Column<Row>[]): ChosenColumns<Row> {
  const { address, change } = useAddress()
  const key = `rapport-columns-${name}`
  const in_address = address.columns
  return useMemo(() => {
    const usual = columns.flatMap(({ id, extra }) => (extra ? [] : [id]))
    const chosen = (in_address ?? localStorage.getItem(key))?.split(',') ?? usual
    const shown = columns.filter(({ id }, index) => index === 0 || chosen.includes(id))
    function toggle(id: string) {
      const ids = shown.map((column) => column.id)
      const next = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]
      const ordered = columns.flatMap((column) => (next.includes(column.id) ? [column.id] : [])).join(',')
      const back = ordered === usual.join(',')
      if (back) localStorage.removeItem(key)
      else localStorage.setItem(key, ordered)
      change({ columns: back ? null : ordered }, true)
    }
    return { all: columns, shown, toggle }
  }, [columns, in_address, key, change])
}

/** The menu that chooses columns. */
export function ColumnsMenu<Row>({ columns }: { columns: ChosenColumns<Row> }) {
  const t = useTexts()
  const { all, shown, toggle } = columns
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon variant="default" size={30} aria-label={t.app.columns} title={t.app.columns}>
          <ColumnsIcon />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={t.app.columns} mah="70dvh" style={{ overflowY: 'auto' }}>
        <Stack gap="sm">
          {all.slice(1).map((column) => (
            <Checkbox
              key={column.id}
              size="sm"
              label={column.label}
              checked={shown.includes(column)}
              onChange={() => toggle(column.id)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
