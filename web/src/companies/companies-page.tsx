import { useMemo } from 'react'
import type { RowOf } from '../api/record-api.ts'
import { laterDialog } from '../app/contained.tsx'
import { useOwnerColumn, useOwnerFilter } from '../record/fields/owner.tsx'
import { useLabels } from '../record/kinds.ts'
import { useOwnerGrouping } from '../record/list/groupings.tsx'
import {
  commonFilters,
  dateColumn,
  factColumns,
  factFilters,
  numberColumn,
  textFilters,
} from '../record/list/list-parts.tsx'
import { RecordListPage } from '../record/list/record-list.tsx'
import { lateRecord } from '../record/page/late-record.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Column } from '../ui/table.tsx'
import { Initials } from '../ui/values.tsx'
import { websiteOf } from '../ui/website.ts'
import { CompaniesBulk } from './companies-bulk.tsx'

const CreateCompany = laterDialog(async () => (await import('./create-company.tsx')).CreateCompany)
const CompanyRecord = lateRecord(async () => (await import('./company-record.tsx')).CompanyRecord)

function useCompanyColumns() {
  const t = useTexts()
  const labelOf = useLabels('companies')
  const owner = useOwnerColumn('companies')
  return useMemo(
    (): Column<RowOf<'companies'>>[] => [
      {
        id: 'name',
        label: labelOf('name'),
        sort: 'name',
        cell: ({ name }) => (
          <>
            <Initials name={name} square />
            <span className="one-line">{name}</span>
          </>
        ),
      },
      { id: 'industry', label: labelOf('industry'), phone: true, cell: ({ industry }) => industry },
      {
        id: 'website',
        label: labelOf('website'),
        width: 224,
        cell: ({ website }) => {
          const href = websiteOf(website)
          if (!href) return website
          return (
            <a href={href} target="_blank" rel="noopener noreferrer" className="quiet-link">
              {website?.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '')}
            </a>
          )
        },
      },
      { id: 'phone', label: labelOf('phone'), cell: ({ phone }) => phone },
      { id: 'address', label: labelOf('address'), extra: true, cell: ({ address }) => address },
      owner,
      ...factColumns(labelOf),
      dateColumn(t, 'created_at', false),
      dateColumn(t, 'updated_at'),
      numberColumn(t),
    ],
    [t, labelOf, owner],
  )
}

/** The list of companies. */
export function CompaniesPage() {
  const t = useTexts()
  const columns = useCompanyColumns()
  const labelOf = useLabels('companies')
  const by_owner = useOwnerFilter('companies')
  const filters = useMemo(
    () => [
      ...textFilters(labelOf, 'industry', 'website', 'phone'),
      by_owner,
      ...factFilters(labelOf),
      ...commonFilters(t),
    ],
    [t, labelOf, by_owner],
  )
  return (
    <RecordListPage
      kind="companies"
      columns={columns}
      filters={filters}
      groupings={useOwnerGrouping('companies')}
      Create={CreateCompany}
      Record={CompanyRecord}
      bulkActions={({ act }) => <CompaniesBulk act={act} />}
    />
  )
}
