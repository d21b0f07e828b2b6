import { ActionIcon, Tooltip } from '@mantine/core'
import { GlobeIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useCommands } from '../app/commands.ts'
import { useMay } from '../app/session.ts'
import { CreateContact } from '../contacts/create-contact.tsx'
import { CustomFields } from '../record/custom-fields.tsx'
import { RecordLayout } from '../record/record-layout.tsx'
import { ReadRecord } from '../record/record-page.tsx'
import { useStored } from '../record/refresh.ts'
import { RelatedActivities, RelatedContacts, RelatedDeals } from '../record/related.tsx'
import { Timeline } from '../record/timeline.tsx'
import { useToTrash } from '../record/to-trash.ts'
import { useTexts } from '../texts/texts.ts'
import { DeleteButton } from '../ui/delete-button.tsx'
import { Field } from '../ui/fields.tsx'
import { Ago, Initials } from '../ui/values.tsx'
import {
  type Company,
  type CompanyChanges,
  changeCompany,
  companyQuery,
  deleteCompany,
  restoreCompany,
  touched,
  websiteOf,
} from './companies.ts'

type Props = {
  id: number
  /** In the side panel of the list. */
  panel?: boolean
  /** It goes to the trash: shows something else, and resolves when that is there. */
  onLeave: () => unknown
}

/** A company with all that belongs to it, on its page and in the side panel. */
export function CompanyRecord({ id, panel = false, onLeave }: Props) {
  return (
    <ReadRecord query={companyQuery(id)}>
      {(company) => <KnownCompany key={id} company={company} panel={panel} onLeave={onLeave} />}
    </ReadRecord>
  )
}

type KnownProps = { company: Company } & Required<Pick<Props, 'panel' | 'onLeave'>>

function KnownCompany({ company, panel, onLeave }: KnownProps) {
  const t = useTexts()
  const may = useMay()
  const toTrash = useToTrash()
  const [creating, setCreating] = useState(false)
  const { id, name } = company
  const change = useStored(companyQuery(id), (changes: CompanyChanges) => changeCompany(id, changes), touched)
  const writes = may('companies:write')
  // What a new deal or activity of this company begins with.
  const linked = { company: { id, name } }
  const website = websiteOf(company.website)
  const adds_contacts = may('contacts:write')

  const remove = () =>
    toTrash({
      ...{ name, leave: onLeave, refresh: touched },
      remove: () => deleteCompany(id),
      restore: () => restoreCompany(id),
    })
  useCommands(
    writes ? [{ id: 'delete-company', label: t.companies.delete, group: 'actions', run: remove }] : [],
  )
  return (
    <>
      <RecordLayout
        panel={panel}
        editable={writes}
        back={{ to: '/companies', label: t.companies.back }}
        icon={<Initials name={name} square />}
        title={name}
        subtitle={company.industry}
        actions={
          <>
            {website && (
              <Tooltip label={t.companies.open_website(name)}>
                <ActionIcon
                  component="a"
                  href={website}
                  target="_blank"
                  rel="noopener noreferrer"
                  variant="default"
                  size={30}
                  aria-label={t.companies.open_website(name)}
                >
                  <GlobeIcon />
                </ActionIcon>
              </Tooltip>
            )}
            {writes && <DeleteButton label={t.companies.delete} onDelete={remove} />}
          </>
        }
        facts={<CompanyFacts company={company} onSave={writes ? change : undefined} />}
        tabs={[
          { id: 'timeline', label: t.app.timeline, content: <Timeline owner="companies" id={id} /> },
          ...(may('contacts:read')
            ? [
                {
                  id: 'contacts',
                  label: t.app.contacts,
                  content: (
                    <RelatedContacts
                      company_id={id}
                      {...(adds_contacts && { onCreate: () => setCreating(true) })}
                    />
                  ),
                },
              ]
            : []),
          ...(may('deals:read')
            ? [
                {
                  id: 'deals',
                  label: t.app.deals,
                  content: <RelatedDeals company_id={id} initial={linked} />,
                },
              ]
            : []),
          ...(may('activities:read')
            ? [
                {
                  id: 'activities',
                  label: t.app.activities,
                  content: <RelatedActivities company_id={id} initial={linked} />,
                },
              ]
            : []),
        ]}
      />
      {adds_contacts && (
        <CreateContact
          opened={creating}
          onClose={() => setCreating(false)}
          initial={{ company: { id, name } }}
        />
      )}
    </>
  )
}

const fields = [
  ['name', 'text'],
  ['website', 'url'],
  ['industry', 'text'],
  ['phone', 'tel'],
  ['address', 'long'],
] as const

type FactsProps = {
  company: Company
  /** Stores the changed fields; undefined for those who may only read. */
  onSave: ((changes: CompanyChanges) => Promise<unknown>) | undefined
}

function CompanyFacts({ company, onSave }: FactsProps) {
  const t = useTexts()
  return (
    <>
      <div className="fields">
        {fields.map(([name, kind]) => (
          <Field
            key={name}
            label={t.companies[name]}
            kind={kind}
            value={company[name]}
            onSave={onSave && ((value) => onSave({ [name]: value }))}
          />
        ))}
      </div>
      <CustomFields
        value={company.custom_fields}
        onSave={onSave && ((custom_fields) => onSave({ custom_fields }))}
      />
      <div className="fields record-dates">
        <Field label={t.app.created_at} value={null} shown={<Ago at={company.created_at} />} />
        <Field label={t.app.updated_at} value={null} shown={<Ago at={company.updated_at} />} />
      </div>
    </>
  )
}
