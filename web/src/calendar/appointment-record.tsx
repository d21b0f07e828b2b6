import { Button, TextInput } from '@mantine/core'
import { CalendarIcon } from '@primer/octicons-react'
import { useState } from 'react'
import type { ChangesOf, RecordOf } from '../api/record-api.ts'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { showProblem } from '../app/problems.tsx'
import { instantOf, wallOf } from '../app/zones.ts'
import { type Fact, Facts, type Save } from '../record/fields/facts.tsx'
import { useOwnerName } from '../record/fields/members.ts'
import type { RecordProps } from '../record/kinds.ts'
import { RecordView } from '../record/page/record-view.tsx'
import { useTexts } from '../texts/texts.ts'
import { Field } from '../ui/fields.tsx'
import { FormDialog } from '../ui/form.tsx'
import { oneClick } from '../ui/one-press.ts'
import { Badge } from '../ui/values.tsx'
import { type Appointment, movedTo, spanOf, useAppointmentActions } from './appointments.ts'
import { Guests } from './guests.tsx'
import './calendar.css'

/** An appointment with all its fields, each changed in place. */
export function AppointmentRecord(props: RecordProps) {
  const t = useTexts()
  const formats = useFormats()
  const { store } = useAppointmentActions()
  return (
    <RecordView kind="appointments" {...props}>
      {(appointment, writes) => {
        const { status } = appointment
        // The own action shows the change in the calendar, too.
        let base: Appointment = appointment
        const save =
          writes &&
          (async (changes: ChangesOf<'appointments'>) => {
            base = await store(base, changes)
          })
        const open = status === 'scheduled' || status === 'requested'
        return {
          icon: <CalendarIcon size={20} />,
          subtitle: (
            <span className="appointment-when">
              {spanOf(formats, appointment)}
              <Badge color={open ? 'accent' : 'gray'}>{t.calendar.statuses[status]}</Badge>
            </span>
          ),
          actions: save && open && <Answers appointment={appointment} />,
          facts: <AppointmentFacts appointment={appointment} save={save} />,
          tabs: [
            {
              id: 'notes',
              label: t.fields.notes,
              content: (
                <div className="fields record-prose appointment-notes">
                  <Facts kind="appointments" record={appointment} fields={[['notes', 'long']]} save={save} />
                </div>
              ),
            },
          ],
        }
      }}
    </RecordView>
  )
}

const fields: readonly Fact<'appointments'>[] = [
  ['contact_id', 'contacts'],
  ['deal_id', 'deals'],
  ['booking_page_id', 'booking_pages'],
  ['type', 'text'],
  ['location', 'text'],
]

type FactsProps = { appointment: RecordOf<'appointments'>; save: Save<'appointments'> }

function AppointmentFacts({ appointment, save }: FactsProps) {
  const t = useTexts()
  const formats = useFormats()
  const { status, cancel_reason } = appointment
  /** A new start moves the end; a new end changes the duration. */
  const savingTime = (field: 'start_at' | 'end_at') =>
    save &&
    ((wall: unknown) => {
      const at = (wall ? instantOf(String(wall), formats.zone) : null) as string
      if (field === 'end_at' || !wall) return save({ [field]: at })
      return save(movedTo(Date.parse(`${wall}Z`), appointment, formats.zone))
    })
  return (
    <div className="fields">
      <Facts kind="appointments" record={appointment} fields={[['title', 'text']]} save={save} />
      {(['start_at', 'end_at'] as const).map((field) => (
        <Field
          key={field}
          name={field}
          label={field === 'start_at' ? t.fields.start_at : t.fields.end_at}
          kind="moment"
          value={wallOf(appointment[field], formats.zone)}
          shown={
            <time dateTime={appointment[field]} title={formats.exact(appointment[field])}>
              {formats.moment(appointment[field])}
            </time>
          }
          onSave={savingTime(field)}
        />
      ))}
      {(status === 'cancelled' || status === 'declined') && (
        <Field label={t.calendar.reason} value={cancel_reason} />
      )}
      <HostsField appointment={appointment} />
      <Facts kind="appointments" record={appointment} fields={fields} save={save} />
      <Guests ids={appointment.guest_ids} onChange={save && ((guest_ids) => save({ guest_ids }))} />
    </div>
  )
}

/** The people who receive the visitor of a booking page, if the host does not receive the visitor alone. */
function HostsField({ appointment }: { appointment: RecordOf<'appointments'> }) {
  const t = useTexts()
  const nameOf = useOwnerName()
  const { host_ids, owner_id } = appointment
  if (host_ids.every((id) => id === owner_id)) return null
  const names = host_ids.flatMap((id) => nameOf(id) ?? [])
  return names.length > 0 && <Field label={t.calendar.hosts} value={names.join(', ')} />
}

/** The buttons that accept, decline or cancel an appointment, also as commands. */
function Answers({ appointment }: { appointment: Appointment }) {
  const t = useTexts()
  const actions = useAppointmentActions()
  const [cancelling, setCancelling] = useState(false)
  const requested = appointment.status === 'requested'
  const accept = () => actions.accept(appointment).catch((error) => showProblem(error, t))
  const cancel = () => setCancelling(true)
  const cancel_label = requested ? t.calendar.decline : t.calendar.cancel
  useCommands([{ id: 'accept-request', label: t.calendar.accept, group: 'actions', run: accept }], requested)
  useCommands([{ id: 'cancel-appointment', label: cancel_label, group: 'actions', run: cancel }])
  return (
    <>
      {requested && <Button onClick={oneClick(accept)}>{t.calendar.accept}</Button>}
      <Button variant="default" onClick={cancel}>
        {cancel_label}
      </Button>
      {cancelling && <CancelDialog appointment={appointment} onClose={() => setCancelling(false)} />}
    </>
  )
}

/** Confirms, because cancelling and declining are final. */
function CancelDialog({ appointment, onClose }: { appointment: Appointment; onClose: () => void }) {
  const t = useTexts()
  const { cancel, decline } = useAppointmentActions()
  const { title, status } = appointment
  // The status at opening: the answer changes it before the dialog closes.
  const [requested] = useState(status === 'requested')
  const end = requested ? decline : cancel
  return (
    <FormDialog
      draft={`cancel-appointment-${appointment.id}`}
      title={requested ? t.calendar.decline_question({ title }) : t.calendar.cancel_question({ title })}
      action={requested ? t.calendar.decline : t.calendar.cancel}
      color="red"
      opened
      onClose={onClose}
      start={{ reason: '' }}
      send={({ reason }) => end(appointment, reason.trim() || null)}
    >
      {(form) => (
        <>
          <p className="hint">{requested ? t.calendar.decline_text : t.calendar.cancel_text}</p>
          <TextInput label={t.calendar.reason} maxLength={255} {...form.getInputProps('reason')} />
        </>
      )}
    </FormDialog>
  )
}
