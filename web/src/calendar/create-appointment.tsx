import { Textarea, TextInput } from '@mantine/core'
import '../activities/activities.css'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { inWords } from '../app/problems.tsx'
import { instantOf, laterOnWall, nextHalfHour, wallOf } from '../app/zones.ts'
import { searches } from '../record/choices.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
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
  function begin() {
    const start_at = initial?.start_at ? wallOf(initial.start_at, zone) : nextHalfHour(zone)
    return {
      title: '',
      start_at,
      end_at: initial?.end_at ? wallOf(initial.end_at, zone) : laterOnWall(start_at, usual_minutes, zone),
      type: '',
      location: '',
      notes: '',
      contact_id: (initial?.contact ?? null) as Choice | null,
      booking_page_id: null as Choice | null,
    }
  }
  const { form, submit, sending, problem } = useRecordForm(begin(), opened)

  /** The end keeps its distance from the start. */
  function setStart(start_at: string) {
    const { start_at: before, end_at } = form.values
    form.setFieldValue('start_at', start_at)
    if (!start_at || !before || !end_at) return
    const ms = Date.parse(instantOf(end_at, zone)) - Date.parse(instantOf(before, zone))
    if (ms > 0) form.setFieldValue('end_at', laterOnWall(start_at, ms / 60_000, zone))
  }
  async function create() {
    const made = await submit(async (values) => {
      const { title, start_at, end_at, contact_id, booking_page_id } = values
      const creating = dataOf(
        api.POST('/api/v1/appointments', {
          body: {
            title,
            // An empty field is told as such by the service, beside what else is wrong.
            start_at: (start_at ? instantOf(start_at, zone) : null) as string,
            end_at: (end_at ? instantOf(end_at, zone) : null) as string,
            type: values.type || null,
            location: values.location || null,
            notes: values.notes || null,
            contact_id: contact_id?.id ?? null,
            booking_page_id: booking_page_id?.id ?? null,
          },
        }),
      )
      const appointment = await inWords(creating, t.calendar.taken_new)
      tell(t.calendar.created(appointment.title))
      onCreated?.(appointment)
    })
    if (!made) return
    onClose()
    await refresh()
  }
  return (
    <FormDialog
      title={t.calendar.create}
      action={t.calendar.create}
      opened={opened}
      onClose={onClose}
      sending={sending}
      problem={problem}
      onSubmit={create}
    >
      <div className="activity-fields">
        <TextInput
          label={t.calendar.title}
          required
          maxLength={255}
          data-autofocus
          {...form.getInputProps('title')}
        />
        <div className="activity-pair">
          <TextInput
            type="datetime-local"
            label={t.calendar.start}
            required
            {...form.getInputProps('start_at')}
            onChange={(event) => setStart(event.currentTarget.value)}
          />
          <TextInput
            type="datetime-local"
            label={t.calendar.end}
            required
            {...form.getInputProps('end_at')}
          />
        </div>
        <ReferenceInput
          label={t.calendar.contact}
          kind="contacts"
          search={searches.contacts}
          value={form.values.contact_id}
          onChange={(choice) => form.setFieldValue('contact_id', choice)}
          error={form.errors.contact_id}
        />
        <div className="activity-pair">
          <TextInput label={t.calendar.type} maxLength={64} {...form.getInputProps('type')} />
          <TextInput label={t.calendar.location} maxLength={255} {...form.getInputProps('location')} />
        </div>
        <ReferenceInput
          label={t.calendar.booking_page}
          kind="booking_pages"
          search={searches.booking_pages}
          value={form.values.booking_page_id}
          onChange={(choice) => form.setFieldValue('booking_page_id', choice)}
          error={form.errors.booking_page_id}
        />
        <Textarea
          label={t.calendar.notes}
          autosize
          minRows={2}
          maxRows={8}
          {...form.getInputProps('notes')}
        />
      </div>
    </FormDialog>
  )
}
