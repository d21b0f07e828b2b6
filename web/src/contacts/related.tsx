import { laterDialog } from '../app/contained.tsx'
import { RecordLink } from '../record/fields/linked.tsx'
import type { Related } from '../record/kinds.ts'
import { RelatedRow } from '../record/page/related.tsx'
import { fullName } from '../ui/full-name.ts'
import { Initials } from '../ui/values.tsx'

const CreateContact = laterDialog(async () => (await import('./create-contact.tsx')).CreateContact)

export const related: Related<'contacts'> = {
  row: (contact) => (
    <RelatedRow
      lead={<Initials name={fullName(contact)} />}
      link={<RecordLink kind="contacts" id={contact.id} name={fullName(contact)} />}
      detail={[contact.stage, contact.email].filter(Boolean).join(' · ')}
    />
  ),
  Create: CreateContact,
}
