import { RecordPage } from '../record/record-page.tsx'
import { ActivityRecord } from './activity-record.tsx'

/** An activity on its own page. */
export const ActivityPage = () => (
  <RecordPage list="/activities">
    {(id, leave) => <ActivityRecord key={id} id={id} onLeave={leave} />}
  </RecordPage>
)
