import { Badge, Button, TextInput } from '@mantine/core'
import { CalendarIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { tellProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { instantOf, wallOf } from '../app/zones.ts'
import { RecordLayout } from '../record/record-layout.tsx'
import { ReadRecord } from '../record/record-page.tsx'
import { ReferenceField, referenceTo } from '../record/reference-field.tsx'
import { useTexts } from '../texts/texts.ts'
import { DeleteButton } from '../ui/delete-button.tsx'
import { Field } from '../ui/fields.tsx'
import { FormDialog } from '../ui/form.tsx'
import { Ago } from '../ui/values.tsx'
import { type Appointment, appointmentQuery, useAppointmentActions } from './appointments.ts'
import './calendar.css'

type Props = { id: number; panel?: boolean; onLeave: () => unknown }

/** An appointment with all its fields, each changed in place. */
export function AppointmentRecord({ id, panel = false, onLeave }: Props) {
  return (
    <ReadRecord query={appointmentQuery(id)}>
      {(appointment) => <KnownAppointment appointment={appointment} panel={panel} onLeave={onLeave} />}
    </ReadRecord>
  )
}

type KnownProps = { appointment: Appointment } & Required<Pick<Props, 'panel' | 'onLeave'>>

function KnownAppointment({ appointment, panel, onLeave }: KnownProps) {
  const t = useTexts()
  const formats = useFormats()
  const may = useMay()('appointments:write')
  const actions = useAppointmentActions()
  const [cancelling, setCancelling] = useState(false)
  const { title, start_at, end_at, status, cancel_reason } = appointment
  const scheduled = status === 'scheduled'
  const requested = status === 'requested'

  const saving = (field: keyof Appointment) =>
    may
      ? (value: unknown) => actions.store(appointment, { [field]: value } as Partial<Appointment>)
      : undefined
  /** Another start takes the end along; another end makes it longer or shorter. */
  const savingTime = (field: 'start_at' | 'end_at') =>
    may
      ? (wall: unknown) => {
          const at = (wall ? instantOf(String(wall), formats.zone) : null) as string
          if (field === 'end_at' || !wall) return actions.store(appointment, { [field]: at })
          const end_ms = Date.parse(at) + Date.parse(end_at) - Date.parse(start_at)
          return actions.store(appointment, { start_at: at, end_at: new Date(end_ms).toISOString() })
        }
      : undefined
  const remove = () => actions.remove(appointment, onLeave)
  const accept = () => actions.accept(appointment).catch((error) => tellProblem(error, t))
  const endingLabel = requested ? t.calendar.decline : t.calendar.cancel
  useCommands(
    may
      ? [
          ...(requested
            ? [
                {
                  ...{ id: 'accept-request', label: t.calendar.accept, group: 'actions' as const },
                  run: accept,
                },
              ]
            : []),
          ...(scheduled || requested
            ? [
                {
                  ...{ id: 'cancel-appointment', label: endingLabel, group: 'actions' as const },
                  run: () => setCancelling(true),
                },
              ]
            : []),
          { id: 'delete-appointment', label: t.app.delete, group: 'actions', run: remove },
        ]
      : [],
  )
  const facts = (
    <div className="fields">
      <Field label={t.calendar.title} value={title} onSave={saving('title')} />
      {(['start_at', 'end_at'] as const).map((field) => (
        <Field
          key={field}
          label={field === 'start_at' ? t.calendar.start : t.calendar.end}
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
      {!scheduled && !requested && <Field label={t.calendar.reason} value={cancel_reason} />}
      <ReferenceField
        label={t.calendar.contact}
        kind="contacts"
        value={referenceTo(appointment.contact_id)}
        onSave={saving('contact_id')}
      />
      <ReferenceField
        label={t.calendar.booking_page}
        kind="booking_pages"
        value={referenceTo(appointment.booking_page_id)}
        onSave={saving('booking_page_id')}
      />
      <Field label={t.calendar.type} value={appointment.type} onSave={saving('type')} />
      <Field label={t.calendar.location} value={appointment.location} onSave={saving('location')} />
      <Field
        label={t.app.created_at}
        value={appointment.created_at}
        shown={<Ago at={appointment.created_at} />}
      />
      <Field
        label={t.app.updated_at}
        value={appointment.updated_at}
        shown={<Ago at={appointment.updated_at} />}
      />
    </div>
  )
  return (
    <>
      <RecordLayout
        icon={<CalendarIcon size={20} />}
        title={title}
        subtitle={
          <span className="appointment-when">
            {formats.moment(start_at)}–{endOf(formats, start_at, end_at)}
            <Badge color={scheduled || requested ? 'blue' : 'gray'}>{t.calendar.statuses[status]}</Badge>
          </span>
        }
        panel={panel}
        editable={may}
        back={{ to: '/calendar', label: t.calendar.back }}
        facts={facts}
        tabs={[
          {
            id: 'notes',
            label: t.calendar.notes,
            content: (
              <div className="fields record-prose appointment-notes">
                <Field
                  label={t.calendar.notes}
                  kind="long"
                  value={appointment.notes ?? null}
                  onSave={saving('notes')}
                />
              </div>
            ),
          },
        ]}
        actions={
          may && (
            <>
              {requested && <Button onClick={accept}>{t.calendar.accept}</Button>}
              {(scheduled || requested) && (
                <Button variant="default" onClick={() => setCancelling(true)}>
                  {endingLabel}
                </Button>
              )}
              <DeleteButton label={t.app.delete} onDelete={remove} />
            </>
          )
        }
      />
      {cancelling && <CancelDialog appointment={appointment} onClose={() => setCancelling(false)} />}
    </>
  )
}

type Formats = ReturnType<typeof useFormats>

/** The end without its day where it is that of the start. */
function endOf(formats: Formats, start_at: string, end_at: string): string {
  const same_day = formats.day(start_at) === formats.day(end_at)
  return same_day ? formats.time(end_at) : formats.moment(end_at)
}

/** Asks first, because a cancelled appointment stays cancelled, and a declined request declined. */
function CancelDialog({ appointment, onClose }: { appointment: Appointment; onClose: () => void }) {
  const t = useTexts()
  const { cancel, decline } = useAppointmentActions()
  const { title, status } = appointment
  // What it was when it was asked: the answer changes it before the dialog is gone.
  const [requested] = useState(status === 'requested')
  const end = requested ? decline : cancel
  return (
    <FormDialog
      title={requested ? t.calendar.decline_question(title) : t.calendar.cancel_question(title)}
      action={requested ? t.calendar.decline : t.calendar.cancel}
      color="red"
      opened
      onClose={onClose}
      start={{ reason: '' }}
      send={({ reason }) => end(appointment, reason.trim() || null)}
    >
      {(form) => (
        <>
          <p className="calendar-said">{requested ? t.calendar.decline_text : t.calendar.cancel_text}</p>
          <TextInput label={t.calendar.reason} maxLength={255} {...form.getInputProps('reason')} />
        </>
      )}
    </FormDialog>
  )
}
