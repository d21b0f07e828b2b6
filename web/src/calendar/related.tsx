import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { RecordLink } from '../record/fields/linked.tsx'
import type { Related } from '../record/kinds.ts'
import { RelatedRow } from '../record/page/related.tsx'
import { useTexts } from '../texts/texts.ts'
import { Ago } from '../ui/values.tsx'
import type { Appointment } from './appointments.ts'

const CreateAppointment = laterDialog(
  async () => (await import('./create-appointment.tsx')).CreateAppointment,
)

/** The time and place of an appointment, and its status unless scheduled. */
function Detail({ start_at, location, status }: Appointment) {
  const t = useTexts()
  const formats = useFormats()
  return [formats.moment(start_at), location, status !== 'scheduled' && t.record[status]]
    .filter(Boolean)
    .join(' · ')
}

export const related: Related<'appointments'> = {
  row: (appointment) => (
    <RelatedRow
      link={<RecordLink kind="appointments" id={appointment.id} name={appointment.title} />}
      detail={<Detail {...appointment} />}
      side={
        <span className="related-detail">
          <Ago at={appointment.start_at} />
        </span>
      }
      done={/^(cancelled|declined)$/.test(appointment.status)}
    />
  ),
  Create: CreateAppointment,
}
