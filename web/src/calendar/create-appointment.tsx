import { TextInput } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { instantOf, laterOnWall, nextHalfHour, wallOf } from '../app/zones.ts'
import { RecordChooser } from '../record/fields/choices.tsx'
import { useLabels } from '../record/kinds.ts'
import { CreateRecord } from '../record/page/create-record.tsx'
import { useTexts } from '../texts/texts.ts'
import { GrowingTextarea } from '../ui/growing-textarea.tsx'
import { MomentInput } from '../ui/inputs.tsx'
import type { Choice } from '../ui/reference.tsx'
import type { Times } from './appointments.ts'

type Props = {
  opened: boolean
  onClose: () => void
  /** Left out: the next half hour. */
  initial?: Partial<Times> & { contact?: Choice | null }
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
    const [from, to] = [before.start_at, before.end_at].map((wall) => Date.parse(instantOf(wall, zone)))
    const minutes = ((to as number) - (from as number)) / 60_000
    return minutes > 0 ? laterOnWall(start, minutes, zone) : before.end_at
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
      conflict={t.calendar.taken_new}
    >
      {({ values, setValues, getInputProps }) => (
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
          <RecordChooser kind="contacts" {...getInputProps('contact_id')} />
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
