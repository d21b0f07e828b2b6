import { Switch, TextInput } from '@mantine/core'
import { ZoneInput } from '../people/inputs.tsx'
import { useTexts } from '../texts/with-booking.ts'
import { GrowingTextarea } from '../ui/growing-textarea.tsx'
import { NumberInput, TagsInput } from '../ui/late-inputs.tsx'
import { type Draft, limit_fields, minutesIn, number_fields } from './booking.ts'
import { BookingHosts } from './booking-hosts.tsx'
import { BookingQuestions } from './booking-questions.tsx'
import type { Problems } from './hours-editor.tsx'
import { OverridesEditor, WeekEditor } from './week-editor.tsx'
import '../ui/form.css'
import { problemOfList } from '../ui/list-problems.ts'

type Props = { draft: Draft; problems: Problems; onChange: (changes: Partial<Draft>) => void }

/** The fields of a booking page, each with its error. */
export function BookingFields({ draft, problems, onChange }: Props) {
  const t = useTexts()
  const problemOf = (list: string) => problemOfList(problems, list)
  return (
    <>
      <Switch
        label={t.booking.active}
        checked={draft.active}
        onChange={(event) => onChange({ active: event.currentTarget.checked })}
      />
      <Switch
        label={t.booking.approval}
        description={t.booking.approval_hint}
        checked={draft.approval}
        onChange={(event) => onChange({ approval: event.currentTarget.checked })}
      />
      <TextInput
        label={t.fields.title}
        required
        maxLength={255}
        value={draft.title}
        error={problems.title}
        onChange={(event) => onChange({ title: event.currentTarget.value })}
      />
      <TextInput
        label={t.booking.slug}
        description={t.booking.slug_hint}
        required
        maxLength={64}
        leftSection={<span className="hint">/book/</span>}
        leftSectionWidth={56}
        value={draft.slug}
        error={problems.slug}
        onChange={(event) => onChange({ slug: event.currentTarget.value })}
      />
      <GrowingTextarea
        label={t.booking.description}
        minRows={2}
        maxRows={8}
        value={draft.description}
        error={problems.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
      <BookingHosts draft={draft} problems={problems} onChange={onChange} />
      <Numbers fields={number_fields} draft={draft} problems={problems} onChange={onChange} />
      <TagsInput
        label={t.booking.durations}
        description={t.booking.durations_hint}
        value={(draft.durations ?? []).map(String)}
        error={problemOf('durations')}
        onChange={(texts) => onChange({ durations: texts.length ? minutesIn(texts) : null })}
      />
      <TagsInput
        label={t.booking.reminders_minutes}
        description={t.booking.reminders_minutes_hint}
        value={draft.reminders_minutes.map(String)}
        error={problemOf('reminders_minutes')}
        onChange={(texts) => onChange({ reminders_minutes: minutesIn(texts) })}
      />
      <ZoneInput
        description={t.booking.time_zone_hint}
        value={draft.time_zone}
        error={problems.time_zone}
        onChange={(time_zone) => onChange({ time_zone })}
      />
      <WeekEditor draft={draft} problems={problems} onChange={onChange} />
      <OverridesEditor draft={draft} problems={problems} onChange={onChange} />
      <BookingQuestions draft={draft} problems={problems} onChange={onChange} />
      <TagsInput
        label={t.booking.embed_origins}
        description={t.booking.embed_origins_hint}
        value={draft.embed_origins}
        error={problemOf('embed_origins')}
        onChange={(embed_origins) => onChange({ embed_origins })}
      />
      <Switch
        label={t.booking.links_in_events}
        description={t.booking.links_in_events_hint}
        checked={draft.links_in_events}
        onChange={(event) => onChange({ links_in_events: event.currentTarget.checked })}
      />
      <fieldset className="booking-part">
        <legend>{t.booking.limits}</legend>
        <p className="booking-hint hint">{t.booking.limits_hint}</p>
        <Numbers fields={limit_fields} draft={draft} problems={problems} onChange={onChange} />
      </fieldset>
    </>
  )
}

type NumberProps = Props & { fields: typeof number_fields | typeof limit_fields }

const Numbers = ({ fields, draft, problems, onChange }: NumberProps) => {
  const t = useTexts()
  return (
    <div className="form-pair">
      {fields.map(([field, step]) => (
        <NumberInput
          key={field}
          label={t.booking[field]}
          min={0}
          step={step}
          clampBehavior="none"
          allowDecimal={false}
          value={draft[field]}
          error={problems[field]}
          onChange={(value) => onChange({ [field]: value === '' ? null : value })}
        />
      ))}
    </div>
  )
}
