import { Button, TextInput } from '@mantine/core'
import { PencilIcon, TrashIcon } from '@primer/octicons-react'
import { useBulk } from '../record/bulk.tsx'
import { BulkText } from '../record/bulk-text.tsx'
import type { BulkActions } from '../record/record-list.tsx'
import { useTexts } from '../texts/texts.ts'
import { type Company, changeCompany, deleteCompany, restoreCompany, touched } from './companies.ts'

/** What can be done with the selected companies; each has one Undo for all. */
export function CompaniesBulk({ rows, onDone, onLeave }: { rows: Company[] } & BulkActions) {
  const t = useTexts()
  const bulk = useBulk()
  const start: typeof bulk = (work) => {
    onDone()
    return bulk(work)
  }
  const setIndustry = (text: string) =>
    start({
      items: rows,
      work: ({ id }) => changeCompany(id, { industry: text || null }),
      undo: ({ id, industry }) => changeCompany(id, { industry }),
      message: (n) => (text ? t.companies.industry_set(n, text) : t.companies.industry_cleared(n)),
      refresh: touched,
    })
  async function remove() {
    await onLeave()
    await start({
      items: rows,
      work: ({ id }) => deleteCompany(id),
      undo: ({ id }) => restoreCompany(id),
      message: t.companies.deleted,
      refresh: touched,
    })
  }
  return (
    <>
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
      <Button variant="default" leftSection={<TrashIcon size={14} />} onClick={remove}>
        {t.app.delete}
      </Button>
    </>
  )
}
