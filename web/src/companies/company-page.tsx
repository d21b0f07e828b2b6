import { RecordPage } from '../record/record-page.tsx'
import { CompanyRecord } from './company-record.tsx'

/** The page of one company. */
export const CompanyPage = () => (
  <RecordPage list="/companies">
    {(id, leave) => <CompanyRecord key={id} id={id} onLeave={leave} />}
  </RecordPage>
)
