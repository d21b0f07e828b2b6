import { TextInput } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { instantOf, laterOnWall, nextHalfHour, wallOf } from '../app/zones.ts'
import { RecordChooser } from '../record/fields/choices.tsx'
import { type Linked, useLabels } from '../record/kinds.ts'
import { CreateRecord } from '../record/page/create-record.tsx'
import { useTexts } from '../texts/texts.ts'
import { GrowingTextarea } from '../ui/growing-textarea.tsx'
import { MomentInput } from '../ui/inputs.tsx'
import type { Choice } from '../ui/reference.tsx'
import { movedTo, type Times } from './appointments.ts'
import { Guests } from './guests.tsx'

type Props = {
  opened: boolean
  onClose: () => void
  /** Left out: the next half hour. */
  initial?: Partial<Times> & Linked
}

const usual_minutes = 30

/** The dialog that creates an appointment. Times are in the person's zone. */
export function CreateAppointment({ initial, ...dialog }: Props) {
  const t = useTexts()
  const { zone } = useFormats()
  const labelOf = useLabels('appointments')
  const start_at = initial?.start_at ? wallOf(initial.start_at, zone) : nextHalfHour(zone)
  const end_at = initial?.end_at ? wallOf(initial.end_at, zone) : laterOnWall(start_at, usual_minutes, zone)
  const instant = (wall: string | null) => wall && instantOf(wall, zone)
  /** The end that keeps the duration. */
  function endAfter(start: string | null, before: { start_at: string | null; end_at: string | null }) {
    if (!start || !before.start_at || !before.end_at) return before.end_at
    const times = { start_at: instantOf(before.start_at, zone), end_at: instantOf(before.end_at, zone) }
    if (times.start_at >= times.end_at) return before.end_at
    return wallOf(movedTo(Date.parse(`${start}Z`), times, zone).end_at, zone)
  }
  return (
    <CreateRecord
      kind="appointments"
      {...dialog}
      start={{
        title: '',
        type: '',
        location: '',
        notes: '',
        start_at: start_at as string | null,
        end_at: end_at as string | null,
        contact_id: initial?.contact ?? null,
        deal_id: initial?.deal ?? null,
        guest_ids: [] as number[],
        booking_page_id: null as Choice | null,
      }}
      // The service reports an empty time as missing, together with other errors.
      bodyOf={({ start_at, end_at, type, location, notes }) => ({
        start_at: instant(start_at),
        end_at: instant(end_at),
        type: type || null,
        location: location || null,
        notes: notes || null,
      })}
    >
      {({ values, setValues, setFieldValue, getInputProps }) => (
        <>
          <TextInput
            label={t.fields.title}
            required
            maxLength={255}
            data-autofocus
            {...getInputProps('title')}
          />
          <div className="form-pair">
            <MomentInput
              label={t.fields.start_at}
              required
              {...getInputProps('start_at')}
              onChange={(start) => setValues({ start_at: start, end_at: endAfter(start, values) })}
            />
            <MomentInput label={t.fields.end_at} required {...getInputProps('end_at')} />
          </div>
          <div className="form-pair">
            <RecordChooser kind="contacts" {...getInputProps('contact_id')} />
            <RecordChooser kind="deals" {...getInputProps('deal_id')} />
          </div>
          <Guests in_dialog ids={values.guest_ids} onChange={(ids) => setFieldValue('guest_ids', ids)} />
          <div className="form-pair">
            <TextInput label={labelOf('type')} maxLength={64} {...getInputProps('type')} />
            <TextInput label={labelOf('location')} maxLength={255} {...getInputProps('location')} />
          </div>
          <RecordChooser kind="booking_pages" {...getInputProps('booking_page_id')} />
          <GrowingTextarea label={t.fields.notes} minRows={2} maxRows={8} {...getInputProps('notes')} />
        </>
      )}
    </CreateRecord>
  )
}
