import { MilestoneIcon } from '@primer/octicons-react'
import type { RowOf } from '../api/record-api.ts'
import { useBulk } from '../record/bulk.tsx'
import { BulkText } from '../record/bulk-text.tsx'
import { useLabels } from '../record/kinds.ts'
import { useTexts } from '../texts/texts.ts'
import { fullName } from '../ui/full-name.ts'
import type { ListPage } from '../ui/list-page.tsx'
import { StageInput } from './stage-input.tsx'

/** The bulk action that only contacts have, with one Undo. */
export function ContactsBulk({ act }: Pick<ListPage<RowOf<'contacts'>>, 'act'>) {
  const t = useTexts()
  const bulk = useBulk()
  const labelOf = useLabels('contacts')
  const setStage = (text: string) =>
    act((items) =>
      bulk({
        ...{ kind: 'contacts', nameOf: fullName },
        items,
        work: { change: () => ({ stage: text || null }) },
        undo: { change: ({ stage }) => ({ stage }) },
        message: (...n) => (text ? t.contacts.stage_set(...n, text) : t.contacts.stage_cleared(...n)),
      }),
    )
  return (
    <BulkText label={t.contacts.set_stage} icon={<MilestoneIcon size={14} />} may_be_empty onApply={setStage}>
      {(given) => <StageInput {...given} label={labelOf('stage')} comboboxProps={{ withinPortal: false }} />}
    </BulkText>
  )
}
