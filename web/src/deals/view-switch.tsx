import { SegmentedControl } from '@mantine/core'
import { useTexts } from '../texts/texts.ts'
import { useAddress } from '../ui/list-view.ts'

/** Switches between board and table. Common filters stay. */
export function ViewSwitch() {
  const t = useTexts()
  const { address, change } = useAddress()
  return (
    <SegmentedControl
      size="xs"
      aria-label={t.deals.view}
      value={address.view === 'table' ? 'table' : 'board'}
      onChange={(view) =>
        change({
          view: view === 'table' ? view : null,
          sort: null,
          page: null,
          open: null,
          stage: null,
          status: null,
          search: null,
          created_from: null,
          created_to: null,
        })
      }
      data={[
        { value: 'board', label: t.deals.board },
        { value: 'table', label: t.deals.table },
      ]}
    />
  )
}
