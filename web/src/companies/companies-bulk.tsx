import { TextInput } from '@mantine/core'
import { PencilIcon } from '@primer/octicons-react'
import { useBulk } from '../record/bulk.tsx'
import { BulkText } from '../record/bulk-text.tsx'
import { useTexts } from '../texts/texts.ts'
import type { ListPage } from '../ui/list-page.tsx'
import { changeCompany, type ListedCompany, touched } from './companies.ts'

/** What can be done with the selected companies beside deleting; it has one Undo for all. */
export function CompaniesBulk({ act }: Pick<ListPage<ListedCompany>, 'act'>) {
  const t = useTexts()
  const bulk = useBulk()
  const setIndustry = (text: string) =>
    act((items) =>
      bulk({
        ...{ items, nameOf: ({ name }) => name, refresh: touched },
        work: ({ id }) => changeCompany(id, { industry: text || null }),
        undo: ({ id, industry }) => changeCompany(id, { industry }),
        message: (n) => (text ? t.companies.industry_set(n, text) : t.companies.industry_cleared(n)),
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
          label={t.companies.industry}
          maxLength={255}
          onChange={(event) => given.onChange(event.currentTarget.value)}
        />
      )}
    </BulkText>
  )
}
