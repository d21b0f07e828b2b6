import { Select, TextInput } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { instantOf } from '../app/zones.ts'
import { RecordChooser } from '../record/fields/choices.tsx'
import type { CreateProps } from '../record/kinds.ts'
import { MentionInput } from '../record/notes/mention-input.tsx'
import { CreateRecord } from '../record/page/create-record.tsx'
import { useTexts } from '../texts/texts.ts'
import { MomentInput } from '../ui/inputs.tsx'
import type { ActivityType } from './labels.tsx'
import { activity_types, links } from './queries.ts'

/** The dialog that creates an activity. */
export function CreateActivity({ initial, ...dialog }: CreateProps) {
  const t = useTexts()
  const { zone } = useFormats()
  return (
    <CreateRecord
      kind="activities"
      {...dialog}
      start={{
        subject: '',
        type: 'task' as ActivityType,
        due_at: null as string | null,
        body: '',
        contact_id: initial?.contact ?? null,
        company_id: initial?.company ?? null,
        deal_id: initial?.deal ?? null,
      }}
      bodyOf={({ due_at, body }) => ({ body: body || null, due_at: due_at && instantOf(due_at, zone) })}
    >
      {({ getInputProps }) => (
        <>
          <TextInput
            label={t.fields.subject}
            required
            maxLength={255}
            data-autofocus
            {...getInputProps('subject')}
          />
          <div className="form-pair">
            <Select
              label={t.fields.type}
              data={activity_types.map((value) => ({ value, label: t.activities.types[value] }))}
              {...getInputProps('type')}
            />
            <MomentInput label={t.fields.due_at} {...getInputProps('due_at')} />
          </div>
          {links.map(([field, kind]) => (
            <RecordChooser key={field} kind={kind} {...getInputProps(field)} />
          ))}
          <MentionInput
            label={t.activities.body}
            placeholder={t.record.mention_hint}
            minRows={2}
            maxRows={8}
            {...getInputProps('body')}
          />
        </>
      )}
    </CreateRecord>
  )
}
