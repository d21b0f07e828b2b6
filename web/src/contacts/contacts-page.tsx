import { useMemo } from 'react'
import type { RowOf } from '../api/record-api.ts'
import { laterDialog } from '../app/contained.tsx'
import { useSession } from '../app/session.ts'
import { RecordLink } from '../record/fields/linked.tsx'
import { useOwnerColumn, useOwnerFilter } from '../record/fields/owner.tsx'
import { useLabels } from '../record/kinds.ts'
import { groupingBy, useOwnerGrouping } from '../record/list/groupings.tsx'
import {
  choiceFilter,
  commonFilters,
  dateColumn,
  factColumns,
  factFilters,
  numberColumn,
  textFilters,
  useReferenceFilters,
} from '../record/list/list-parts.tsx'
import { RecordListPage } from '../record/list/record-list.tsx'
import { lateRecord } from '../record/page/late-record.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'
import { fullName } from '../ui/full-name.ts'
import type { Column } from '../ui/table.tsx'
import { Badge, Initials } from '../ui/values.tsx'
import { visible } from '../ui/visible.ts'
import { ContactsBulk } from './contacts-bulk.tsx'

const CreateContact = laterDialog(async () => (await import('./create-contact.tsx')).CreateContact)
const ContactRecord = lateRecord(async () => (await import('./contact-record.tsx')).ContactRecord)

function useContactColumns() {
  const t = useTexts()
  const labelOf = useLabels('contacts')
  const owner = useOwnerColumn('contacts')
  return useMemo(
    (): Column<RowOf<'contacts'>>[] => [
      {
        id: 'name',
        label: labelOf('name'),
        sort: 'last_name',
        cell: (contact) => (
          <>
            <Initials name={fullName(contact)} />
            <span className="one-line">{fullName(contact)}</span>
          </>
        ),
      },
      {
        id: 'company',
        width: 160,
        label: labelOf('company_id'),
        phone: true,
        cell: ({ company }) => company && <RecordLink kind="companies" {...company} />,
      },
      {
        id: 'email',
        width: 208,
        grows: true,
        label: labelOf('email'),
        cell: ({ email }) =>
          email && (
            <a href={`mailto:${email}`} className="quiet-link">
              {email}
            </a>
          ),
      },
      { id: 'phone', width: 160, label: labelOf('phone'), cell: ({ phone }) => phone },
      {
        id: 'stage',
        width: 120,
        label: labelOf('stage'),
        cell: ({ stage }) => stage && <Badge>{visible(stage)}</Badge>,
      },
      owner,
      ...factColumns(labelOf),
      dateColumn(t, 'created_at', false),
      numberColumn(t),
    ],
    [t, labelOf, owner],
  )
}

const references: [string, 'companies'][] = [['company_id', 'companies']]

function useContactFilters(): Filter[] {
  const t = useTexts()
  const labelOf = useLabels('contacts')
  const by_reference = useReferenceFilters('contacts', references)
  const by_owner = useOwnerFilter('contacts')
  const { contact_stages: kept } = useSession().workspace
  return useMemo(
    () => [
      kept.length
        ? {
            ...choiceFilter('stage', labelOf('stage'), Object.fromEntries(kept.map((one) => [one, one]))),
            nullable: true,
          }
        : ({ name: 'stage', label: labelOf('stage'), nullable: true } satisfies Filter),
      ...textFilters(labelOf, 'source', 'email', 'phone'),
      ...by_reference,
      by_owner,
      ...factFilters(labelOf),
      ...commonFilters(t),
    ],
    [t, labelOf, kept, by_reference, by_owner],
  )
}

function useContactGroupings() {
  const t = useTexts()
  const labelOf = useLabels('contacts')
  const by_owner = useOwnerGrouping('contacts')
  return useMemo(
    () => [groupingBy('stage', labelOf('stage'), t.contacts.no_stage), ...by_owner],
    [t, labelOf, by_owner],
  )
}

/** The list of contacts. */
export const ContactsPage = () => (
  <RecordListPage
    kind="contacts"
    columns={useContactColumns()}
    filters={useContactFilters()}
    groupings={useContactGroupings()}
    Create={CreateContact}
    Record={ContactRecord}
    bulkActions={({ act }) => <ContactsBulk act={act} />}
  />
)
