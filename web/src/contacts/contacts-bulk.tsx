import { TextInput } from '@mantine/core'
import { MilestoneIcon } from '@primer/octicons-react'
import type { RowOf } from '../api/record-api.ts'
import { latePart } from '../app/late.ts'
import { useLabels } from '../record/kinds.ts'
import { useBulk } from '../record/list/bulk.tsx'
import { BulkText } from '../record/list/bulk-text.tsx'
import { useTexts } from '../texts/texts.ts'
import { fullName } from '../ui/full-name.ts'
import type { ListPage } from '../ui/list-page.tsx'

const input = latePart(async () => (await import('./stage-input.tsx')).StageInput)

/** The bulk action that only contacts have, with one Undo. */
export function ContactsBulk({ act }: Pick<ListPage<RowOf<'contacts'>>, 'act'>) {
  const t = useTexts()
  const bulk = useBulk()
  const labelOf = useLabels('contacts')
  const setStage = (text: string) =>
    act((items) =>
      bulk({
        kind: 'contacts',
        nameOf: fullName,
        items,
        work: { change: () => ({ stage: text || null }) },
        undo: { change: ({ stage }) => ({ stage }) },
        message: (n) => (text ? t.contacts.stage_set({ n, stage: text }) : t.contacts.stage_cleared({ n })),
      }),
    )
  // Loaded with the bar, so that it is there when the popover opens.
  const StageInput = input.usePart(true, () => {})
  return (
    <BulkText label={t.contacts.set_stage} icon={<MilestoneIcon size={14} />} may_be_empty onApply={setStage}>
      {({ onChange, ...given }) =>
        StageInput ? (
          <StageInput
            {...given}
            label={labelOf('stage')}
            comboboxProps={{ withinPortal: false }}
            onChange={onChange}
          />
        ) : (
          <TextInput
            {...given}
            label={labelOf('stage')}
            maxLength={64}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        )
      }
    </BulkText>
  )
}
