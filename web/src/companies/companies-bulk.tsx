import { TextInput } from '@mantine/core'
import { PencilIcon } from '@primer/octicons-react'
import type { RowOf } from '../api/record-api.ts'
import { useLabels } from '../record/kinds.ts'
import { useBulk } from '../record/list/bulk.tsx'
import { BulkText } from '../record/list/bulk-text.tsx'
import { useTexts } from '../texts/texts.ts'
import type { ListPage } from '../ui/list-page.tsx'

/** The bulk action on companies beside deleting, with one Undo. */
export function CompaniesBulk({ act }: Pick<ListPage<RowOf<'companies'>>, 'act'>) {
  const t = useTexts()
  const bulk = useBulk()
  const labelOf = useLabels('companies')
  const setIndustry = (text: string) =>
    act((items) =>
      bulk({
        kind: 'companies',
        items,
        nameOf: ({ name }) => name,
        work: { change: () => ({ industry: text || null }) },
        undo: { change: ({ industry }) => ({ industry }) },
        message: (n) =>
          text ? t.companies.industry_set({ n, industry: text }) : t.companies.industry_cleared({ n }),
      }),
    )
  return (
    <BulkText
      label={t.companies.set_industry}
      icon={<PencilIcon size={14} />}
      may_be_empty
      onApply={setIndustry}
    >
      {(given) => (
        <TextInput
          {...given}
          label={labelOf('industry')}
          maxLength={255}
          onChange={(event) => given.onChange(event.currentTarget.value)}
        />
      )}
    </BulkText>
  )
}
