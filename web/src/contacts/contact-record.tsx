import { ActionIcon, Tooltip } from '@mantine/core'
import { MailIcon } from '@primer/octicons-react'
import { useCommands } from '../app/commands.ts'
import { useMay } from '../app/session.ts'
import { fullName } from '../record/choices.ts'
import { RecordLink } from '../record/linked.tsx'
import { Notes } from '../record/notes.tsx'
import { RecordLayout } from '../record/record-layout.tsx'
import { ReadRecord } from '../record/record-page.tsx'
import { useStored } from '../record/refresh.ts'
import { RelatedActivities, RelatedAppointments, RelatedDeals } from '../record/related.tsx'
import { Timeline } from '../record/timeline.tsx'
import { useToTrash } from '../record/to-trash.ts'
import { useTexts } from '../texts/texts.ts'
import { DeleteButton } from '../ui/delete-button.tsx'
import { Initials } from '../ui/values.tsx'
import { ContactFacts } from './contact-facts.tsx'
import {
  type Contact,
  type ContactChanges,
  changeContact,
  changeTag,
  contactQuery,
  deleteContact,
  restoreContact,
  touched,
} from './contacts.ts'

type Props = {
  id: number
  /** In the side panel of the list. */
  panel?: boolean
  /** It goes to the trash: shows something else, and resolves when that is there. */
  onLeave: () => unknown
}

/** A contact with all that belongs to it, on its page and in the side panel. */
export function ContactRecord({ id, panel = false, onLeave }: Props) {
  return (
    <ReadRecord query={contactQuery(id)}>
      {(contact) => <KnownContact key={id} contact={contact} panel={panel} onLeave={onLeave} />}
    </ReadRecord>
  )
}

type KnownProps = { contact: Contact } & Required<Pick<Props, 'panel' | 'onLeave'>>

function KnownContact({ contact, panel, onLeave }: KnownProps) {
  const t = useTexts()
  const may = useMay()
  const toTrash = useToTrash()
  const { id, company, title, email } = contact
  const name = fullName(contact)
  const change = useStored(contactQuery(id), (changes: ContactChanges) => changeContact(id, changes), touched)
  const tag = useStored(contactQuery(id), (given: [string, boolean]) => changeTag(id, ...given), touched)
  const writes = may('contacts:write')
  // What a new deal or activity of this contact begins with.
  const linked = { contact: { id, name }, company }

  const remove = () =>
    toTrash({
      ...{ name, leave: onLeave, refresh: touched },
      remove: () => deleteContact(id),
      restore: () => restoreContact(id),
    })
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
            {company && <RecordLink kind="companies" {...company} />}
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
          {writes && <DeleteButton label={t.contacts.delete} onDelete={remove} />}
        </>
      }
      facts={
        <ContactFacts
          contact={contact}
          onSave={writes ? change : undefined}
          onTag={writes ? (...given) => tag(given) : undefined}
        />
      }
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
