import { Badge } from '@mantine/core'
import { useMemo } from 'react'
import { useMay } from '../app/session.ts'
import { fullName, searches } from '../record/choices.ts'
import { RecordLink, RecordName } from '../record/linked.tsx'
import { RecordListPage } from '../record/record-list.tsx'
import { type Texts, useTexts } from '../texts/texts.ts'
import type { Filter } from '../ui/filters.tsx'
import type { Column } from '../ui/table.tsx'
import { Ago, Initials } from '../ui/values.tsx'
import { ContactRecord } from './contact-record.tsx'
import { contactsQuery, deleteContact, type ListedContact, restoreContact, touched } from './contacts.ts'
import { ContactsBulk } from './contacts-bulk.tsx'
import { CreateContact } from './create-contact.tsx'

const filter_names = [
  ...['stage', 'tag', 'company_id', 'created_from', 'created_to', 'custom_field'],
] as const

const columnsOf = (t: Texts): Column<ListedContact>[] => [
  {
    id: 'name',
    label: t.contacts.name,
    sort: 'last_name',
    cell: (contact) => (
      <>
        <Initials name={fullName(contact)} />
        {fullName(contact)}
      </>
    ),
  },
  {
    id: 'company',
    label: t.contacts.company,
    phone: true,
    cell: ({ company }) => company && <RecordLink kind="companies" {...company} />,
  },
  {
    id: 'email',
    label: t.contacts.email,
    cell: ({ email }) =>
      email && (
        <a href={`mailto:${email}`} className="cell-link">
          {email}
        </a>
      ),
  },
  { id: 'phone', label: t.contacts.phone, cell: ({ phone }) => phone },
  {
    id: 'stage',
    label: t.contacts.stage,
    cell: ({ stage }) =>
      stage && (
        <Badge color="gray" variant="light">
          {stage}
        </Badge>
      ),
  },
  {
    id: 'created_at',
    label: t.contacts.created_at,
    sort: 'created_at',
    down: true,
    cell: ({ created_at }) => <Ago at={created_at} />,
  },
  {
    id: 'id',
    label: t.contacts.number,
    sort: 'id',
    down: true,
    number: true,
    extra: true,
    cell: ({ id }) => id,
  },
]

const filtersOf = (t: Texts): Filter[] => [
  { name: 'stage', label: t.contacts.stage },
  { name: 'tag', label: t.contacts.tag },
  {
    name: 'company_id',
    label: t.contacts.company,
    reference: { kind: 'companies', search: searches.companies },
    show: (id) => <RecordName kind="companies" id={Number(id)} />,
  },
  { name: 'created_from', label: t.contacts.created_from, kind: 'date' },
  { name: 'created_to', label: t.contacts.created_to, kind: 'date' },
  { name: 'custom_field', label: t.record.custom_field, placeholder: t.record.custom_field_hint },
]

/** The list of contacts. */
export function ContactsPage() {
  const t = useTexts()
  const may = useMay()('contacts:write')
  const columns = useMemo(() => columnsOf(t), [t])
  const filters = useMemo(() => filtersOf(t), [t])
  return (
    <RecordListPage
      list="contacts"
      title={t.app.contacts}
      columns={columns}
      filter_names={filter_names}
      filters={filters}
      listQuery={contactsQuery}
      nameOf={fullName}
      empty={may ? t.contacts.empty : t.contacts.empty_read_only}
      create={may ? t.contacts.create : undefined}
      createDialog={(opened, onClose, onCreated) => (
        <CreateContact opened={opened} onClose={onClose} onCreated={({ id }) => onCreated(id)} />
      )}
      record={(id, onClose) => <ContactRecord id={id} panel onLeave={onClose} />}
      bulk={
        may
          ? {
              actions: ({ act }) => <ContactsBulk act={act} />,
              ...{ remove: deleteContact, restore: restoreContact, deleted: t.contacts.deleted, touched },
            }
          : undefined
      }
    />
  )
}
