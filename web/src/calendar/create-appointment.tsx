import { Textarea, TextInput } from '@mantine/core'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { inWords } from '../app/problems.tsx'
import { instantOf, laterOnWall, nextHalfHour, wallOf } from '../app/zones.ts'
import { searches } from '../record/choices.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog } from '../ui/form.tsx'
import { MomentInput } from '../ui/inputs.tsx'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
import { tell } from '../ui/undo.tsx'
import { type Appointment, type Times, useAppointmentActions } from './appointments.ts'

type Props = {
  opened: boolean
  onClose: () => void
  /** Left out: half an hour, as soon as possible. */
  initial?: Partial<Times> & { contact?: Choice | null }
  onCreated?: (appointment: Appointment) => void
}

const usual_minutes = 30

/** The dialog that makes an appointment. Times are on the clock of the person's zone. */
export function CreateAppointment({ opened, onClose, initial, onCreated }: Props) {
  const t = useTexts()
  const { zone } = useFormats()
  const { refresh } = useAppointmentActions()
  const start_at = initial?.start_at ? wallOf(initial.start_at, zone) : nextHalfHour(zone)
  const end_at = initial?.end_at ? wallOf(initial.end_at, zone) : laterOnWall(start_at, usual_minutes, zone)
  const instant = (wall: string | null) => wall && instantOf(wall, zone)
  /** The end that keeps its distance from the start. */
  function endAfter(start: string | null, before: { start_at: string | null; end_at: string | null }) {
    if (!start || !before.start_at || !before.end_at) return before.end_at
    const [from, to] = [before.start_at, before.end_at].map((wall) => Date.parse(instantOf(wall, zone)))
    const minutes = ((to as number) - (from as number)) / 60_000
    return minutes > 0 ? laterOnWall(start, minutes, zone) : before.end_at
  }
  return (
    <FormDialog
      title={t.calendar.create}
      action={t.calendar.create}
      opened={opened}
      onClose={onClose}
      start={{
        ...{ title: '', type: '', location: '', notes: '' },
        ...{ start_at: start_at as string | null, end_at: end_at as string | null },
        contact_id: initial?.contact ?? null,
        booking_page_id: null as Choice | null,
      }}
      send={({ title, start_at, end_at, type, location, notes, contact_id, booking_page_id }) => {
        const body = {
          title,
          // An empty field is told as such by the service, beside what else is wrong.
          start_at: instant(start_at) as string,
          end_at: instant(end_at) as string,
          ...{ type: type || null, location: location || null, notes: notes || null },
          contact_id: contact_id?.id ?? null,
          booking_page_id: booking_page_id?.id ?? null,
        }
        return inWords(dataOf(api.POST('/api/v1/appointments', { body })), t.calendar.taken_new)
      }}
      onSent={(appointment) => {
        tell(t.calendar.created(appointment.title))
        refresh()
        onCreated?.(appointment)
      }}
    >
      {({ values, setValues, getInputProps }) => (
        <>
          <TextInput
            label={t.calendar.title}
            required
            maxLength={255}
            data-autofocus
            {...getInputProps('title')}
          />
          <div className="form-pair">
            <MomentInput
              label={t.calendar.start}
              required
              {...getInputProps('start_at')}
              onChange={(start) => setValues({ start_at: start, end_at: endAfter(start, values) })}
            />
            <MomentInput label={t.calendar.end} required {...getInputProps('end_at')} />
          </div>
          <ReferenceInput
            label={t.calendar.contact}
            kind="contacts"
            search={searches.contacts}
            {...getInputProps('contact_id')}
          />
          <div className="form-pair">
            <TextInput label={t.calendar.type} maxLength={64} {...getInputProps('type')} />
            <TextInput label={t.calendar.location} maxLength={255} {...getInputProps('location')} />
          </div>
          <ReferenceInput
            label={t.calendar.booking_page}
            kind="booking_pages"
            search={searches.booking_pages}
            {...getInputProps('booking_page_id')}
          />
          <Textarea label={t.calendar.notes} autosize minRows={2} maxRows={8} {...getInputProps('notes')} />
        </>
      )}
    </FormDialog>
  )
}
