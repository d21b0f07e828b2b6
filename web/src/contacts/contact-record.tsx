import { Glance } from '../deals/glance.tsx'
import { type Fact, Facts } from '../record/fields/facts.tsx'
import { RecordLink } from '../record/fields/linked.tsx'
import type { RecordProps } from '../record/kinds.ts'
import { RecordView } from '../record/page/record-view.tsx'
import { fullName } from '../ui/full-name.ts'
import { Reach } from '../ui/reach.tsx'
import { SameEmail } from './same-email.tsx'

const fields: readonly Fact<'contacts'>[] = [
  ['first_name', 'text'],
  ['last_name', 'text'],
  ['title', 'text'],
  ['company_id', 'companies'],
  ['email', 'email'],
  ['phone', 'tel'],
  ['mobile', 'tel'],
  ['stage', 'text'],
  ['source', 'text'],
]

/** A contact with all that belongs to it, on its page and in the side panel. */
export function ContactRecord(props: RecordProps) {
  return (
    <RecordView kind="contacts" {...props}>
      {(contact, save) => {
        const { id, company, title, email } = contact
        return {
          subtitle: (title || company) && (
            <>
              {title}
              {title && company && ' · '}
              {company && <RecordLink kind="companies" {...company} />}
            </>
          ),
          actions: (
            <Reach
              people={[{ name: fullName(contact), email, phone: contact.phone, mobile: contact.mobile }]}
            />
          ),
          glance: <Glance kind="contacts" record={contact} />,
          facts: (
            <div className="fields">
              <Facts
                kind="contacts"
                record={contact}
                fields={fields}
                save={save}
                below={{
                  email: (typed) => <SameEmail email={typed === null ? null : String(typed)} except={id} />,
                }}
              />
            </div>
          ),
          linked: { company },
        }
      }}
    </RecordView>
  )
}
