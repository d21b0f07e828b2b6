import { RecordPage } from '../record/record-page.tsx'
import { ContactRecord } from './contact-record.tsx'

/** The page of one contact. */
export const ContactPage = () => (
  <RecordPage list="/contacts">
    {(id, leave) => <ContactRecord key={id} id={id} onLeave={leave} />}
  </RecordPage>
)
