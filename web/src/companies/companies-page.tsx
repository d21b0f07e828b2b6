import { useMemo } from 'react'
import { useMay } from '../app/session.ts'
import { RecordListPage } from '../record/record-list.tsx'
import { type Texts, useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'
import type { Column } from '../ui/table.tsx'
import { Ago, Initials } from '../ui/values.tsx'
import {
  companiesQuery,
  deleteCompany,
  type ListedCompany,
  restoreCompany,
  touched,
  websiteOf,
} from './companies.ts'
import { CompaniesBulk } from './companies-bulk.tsx'
import { CompanyRecord } from './company-record.tsx'
import { CreateCompany } from './create-company.tsx'

const filter_names = ['created_from', 'created_to', 'custom_field'] as const

const columnsOf = (t: Texts): Column<ListedCompany>[] => [
  {
    id: 'name',
    label: t.companies.name,
    sort: 'name',
    cell: ({ name }) => (
      <>
        <Initials name={name} square />
        {name}
      </>
    ),
  },
  { id: 'industry', label: t.companies.industry, phone: true, cell: ({ industry }) => industry },
  {
    id: 'website',
    label: t.companies.website,
    cell: ({ website }) => {
      const href = websiteOf(website)
      if (!href) return website
      return (
        <a href={href} target="_blank" rel="noopener noreferrer" className="cell-link">
          {website?.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '')}
        </a>
      )
    },
  },
  { id: 'phone', label: t.companies.phone, cell: ({ phone }) => phone },
  { id: 'address', label: t.companies.address, extra: true, cell: ({ address }) => address },
  {
    id: 'created_at',
    label: t.companies.created_at,
    sort: 'created_at',
    down: true,
    cell: ({ created_at }) => <Ago at={created_at} />,
  },
  {
    id: 'updated_at',
    label: t.companies.updated_at,
    sort: 'updated_at',
    down: true,
    extra: true,
    cell: ({ updated_at }) => <Ago at={updated_at} />,
  },
  {
    id: 'id',
    label: t.companies.number,
    sort: 'id',
    down: true,
    number: true,
    extra: true,
    cell: ({ id }) => id,
  },
]

const filtersOf = (t: Texts): Filter[] => [
  { name: 'created_from', label: t.companies.created_from, kind: 'date' },
  { name: 'created_to', label: t.companies.created_to, kind: 'date' },
  { name: 'custom_field', label: t.record.custom_field, placeholder: t.record.custom_field_hint },
]

/** The list of companies. */
export function CompaniesPage() {
  const t = useTexts()
  const may = useMay()('companies:write')
  const columns = useMemo(() => columnsOf(t), [t])
  const filters = useMemo(() => filtersOf(t), [t])
  return (
    <RecordListPage
      list="companies"
      title={t.app.companies}
      columns={columns}
      filter_names={filter_names}
      filters={filters}
      listQuery={companiesQuery}
      nameOf={({ name }) => name}
      empty={may ? t.companies.empty : t.companies.empty_read_only}
      create={may ? t.companies.create : undefined}
      createDialog={(opened, onClose, onCreated) => (
        <CreateCompany opened={opened} onClose={onClose} onCreated={({ id }) => onCreated(id)} />
      )}
      record={(id, onClose) => <CompanyRecord id={id} panel onLeave={onClose} />}
      bulk={
        may
          ? {
              actions: ({ act }) => <CompaniesBulk act={act} />,
              ...{ remove: deleteCompany, restore: restoreCompany, deleted: t.companies.deleted, touched },
            }
          : undefined
      }
    />
  )
}
