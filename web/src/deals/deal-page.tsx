import { RecordPage } from '../record/record-page.tsx'
import { DealRecord } from './deal-record.tsx'

/** The page of one deal. */
export const DealPage = () => (
  <RecordPage list="/deals">{(id, leave) => <DealRecord key={id} id={id} onLeave={leave} />}</RecordPage>
)
