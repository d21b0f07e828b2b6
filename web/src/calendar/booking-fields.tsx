import { Switch, TextInput } from '@mantine/core'
import { ZoneInput } from '../people/inputs.tsx'
import { useTexts } from '../texts/texts.ts'
import { GrowingTextarea } from '../ui/growing-textarea.tsx'
import { NumberInput } from '../ui/late-inputs.tsx'
import { type Draft, number_fields } from './booking.ts'
import type { Problems } from './hours-editor.tsx'
import { OverridesEditor, WeekEditor } from './week-editor.tsx'
import '../ui/form.css'

type Props = { draft: Draft; problems: Problems; onChange: (changes: Partial<Draft>) => void }

/** The fields of a booking page, each with its error. */
export function BookingFields({ draft, problems, onChange }: Props) {
  const t = useTexts()
  return (
    <>
      <Switch
        label={t.calendar.active}
        checked={draft.active}
        onChange={(event) => onChange({ active: event.currentTarget.checked })}
      />
      <Switch
        label={t.calendar.approval}
        description={t.calendar.approval_hint}
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
        label={t.calendar.slug}
        description={t.calendar.slug_hint}
        required
        maxLength={64}
        leftSection={<span className="hint">/book/</span>}
        leftSectionWidth={56}
        value={draft.slug}
        error={problems.slug}
        onChange={(event) => onChange({ slug: event.currentTarget.value })}
      />
      <GrowingTextarea
        label={t.calendar.description}
        minRows={2}
        maxRows={8}
        value={draft.description}
        error={problems.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
      <div className="form-pair">
        {number_fields.map(([field, step]) => (
          <NumberInput
            key={field}
            label={t.calendar[field]}
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
      <ZoneInput
        description={t.calendar.time_zone_hint}
        value={draft.time_zone}
        error={problems.time_zone}
        onChange={(time_zone) => onChange({ time_zone })}
      />
      <WeekEditor draft={draft} problems={problems} onChange={onChange} />
      <OverridesEditor draft={draft} problems={problems} onChange={onChange} />
    </>
  )
}
