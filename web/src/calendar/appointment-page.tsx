import { RecordPage } from '../record/record-page.tsx'
import { AppointmentRecord } from './appointment-record.tsx'

/** An appointment on its own page. */
export const AppointmentPage = () => (
  <RecordPage list="/calendar">
    {(id, leave) => <AppointmentRecord key={id} id={id} onLeave={leave} />}
  </RecordPage>
)
