import { ActionIcon, Tooltip } from '@mantine/core'
import { MailIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Problem } from '../api/client.ts'
import { useCommands } from '../app/commands.ts'
import { NotFound } from '../app/places.tsx'
import { ProblemNote, tellProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { fullName } from '../record/choices.ts'
import { Notes } from '../record/notes.tsx'
import { AwaitedRecord, RecordLayout } from '../record/record-layout.tsx'
import { useRefresh } from '../record/refresh.ts'
import { RelatedActivities, RelatedAppointments, RelatedDeals } from '../record/related.tsx'
import { Timeline } from '../record/timeline.tsx'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { Initials } from '../ui/values.tsx'
import { ContactFacts } from './contact-facts.tsx'
import {
  type Contact,
  contactQuery,
  deleteContact,
  restoreContact,
  touched,
  useChangeContact,
} from './contacts.ts'

type Props = {
  id: number
  /** In the side panel of the list. */
  panel?: boolean
  /** The record has gone to the trash: shows something else. */
  onDeleted: () => unknown
}

/** A contact with all that belongs to it, on its page and in the side panel. */
export function ContactRecord({ id, panel = false, onDeleted }: Props) {
  const { data, error, refetch } = useQuery(contactQuery(id))
  if (error instanceof Problem && error.status === 404) return <NotFound />
  if (error && !data) return <ProblemNote error={error} onRetry={refetch} />
  if (!data) return <AwaitedRecord />
  return <KnownContact key={id} contact={data} panel={panel} onDeleted={onDeleted} />
}

type KnownProps = { contact: Contact } & Required<Pick<Props, 'panel' | 'onDeleted'>>

function KnownContact({ contact, panel, onDeleted }: KnownProps) {
  const t = useTexts()
  const may = useMay()
  const refresh = useRefresh()
  const { id, company, title, email } = contact
  const name = fullName(contact)
  const change = useChangeContact(id)
  const writes = may('contacts:write')
  // What a new deal or activity of this contact begins with.
  const linked = { contact: { id, name }, company }

  async function remove() {
    try {
      await deleteContact(id)
      // First, so that the record is not asked for again.
      await onDeleted()
      refresh(...touched)
      offerUndo(t, t.app.deleted(name), async () => {
        await restoreContact(id)
        await refresh(...touched)
      })
    } catch (error) {
      tellProblem(error, t)
    }
  }
  useCommands(
    writes ? [{ id: 'delete-contact', label: t.contacts.delete, group: 'actions', run: remove }] : [],
  )
  return (
    <RecordLayout
      panel={panel}
      editable={writes}
      back={{ to: '/contacts', label: t.contacts.back }}
      icon={<Initials name={name} />}
      title={name}
      subtitle={
        (title || company) && (
          <>
            {title}
            {title && company && ' · '}
            {company && <Link to={`/companies/${company.id}`}>{company.name}</Link>}
          </>
        )
      }
      actions={
        <>
          {email && (
            <Tooltip label={t.contacts.write_email(name)}>
              <ActionIcon
                component="a"
                href={`mailto:${email}`}
                variant="default"
                size={30}
                aria-label={t.contacts.write_email(name)}
              >
                <MailIcon />
              </ActionIcon>
            </Tooltip>
          )}
          {writes && (
            <Tooltip label={t.contacts.delete}>
              <ActionIcon variant="default" size={30} aria-label={t.contacts.delete} onClick={remove}>
                <TrashIcon />
              </ActionIcon>
            </Tooltip>
          )}
        </>
      }
      facts={<ContactFacts contact={contact} onSave={writes ? change : undefined} />}
      tabs={[
        { id: 'timeline', label: t.app.timeline, content: <Timeline owner="contacts" id={id} /> },
        {
          id: 'notes',
          label: t.app.notes,
          content: <Notes contact_id={id} />,
          ...(writes && { command: { keys: 'n', label: t.app.keys.note } }),
        },
        ...(may('deals:read')
          ? [{ id: 'deals', label: t.app.deals, content: <RelatedDeals contact_id={id} initial={linked} /> }]
          : []),
        ...(may('activities:read')
          ? [
              {
                id: 'activities',
                label: t.app.activities,
                content: <RelatedActivities contact_id={id} initial={linked} />,
              },
            ]
          : []),
        ...(may('appointments:read')
          ? [
              {
                id: 'appointments',
                label: t.record.appointments,
                content: <RelatedAppointments contact_id={id} />,
              },
            ]
          : []),
      ]}
    />
  )
}
