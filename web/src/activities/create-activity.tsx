import { Select, Textarea, TextInput } from '@mantine/core'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { instantOf } from '../app/zones.ts'
import { searches } from '../record/choices.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
import { tell } from '../ui/undo.tsx'
import { type Activity, type ActivityType, activity_types, links, useActivityActions } from './queries.ts'
import './activities.css'

/** What a new activity has before anything is written; the links with their names. */
export type InitialActivity = {
  subject?: string
  type?: ActivityType
  contact?: Choice | null
  company?: Choice | null
  deal?: Choice | null
}

type Props = {
  opened: boolean
  onClose: () => void
  initial?: InitialActivity
  onCreated?: (activity: Activity) => void
}

/** The dialog that makes an activity. */
export function CreateActivity({ opened, onClose, initial, onCreated }: Props) {
  const t = useTexts()
  const { zone } = useFormats()
  const { refresh } = useActivityActions()
  const start = {
    subject: initial?.subject ?? '',
    type: initial?.type ?? ('task' as ActivityType),
    due_at: '',
    body: '',
    contact_id: (initial?.contact ?? null) as Choice | null,
    company_id: (initial?.company ?? null) as Choice | null,
    deal_id: (initial?.deal ?? null) as Choice | null,
  }
  const { form, submit, sending, problem } = useRecordForm(start, opened)

  async function create() {
    const made = await submit(async (values) => {
      const { subject, type, due_at, body, contact_id, company_id, deal_id } = values
      const activity = await dataOf(
        api.POST('/api/v1/activities', {
          body: {
            ...{ subject, type, body: body || null, due_at: due_at ? instantOf(due_at, zone) : null },
            contact_id: contact_id?.id ?? null,
            company_id: company_id?.id ?? null,
            deal_id: deal_id?.id ?? null,
          },
        }),
      )
      tell(t.activities.created_one(activity.subject))
      onCreated?.(activity)
    })
    if (!made) return
    onClose()
    await refresh()
  }
  return (
    <FormDialog
      title={t.activities.create}
      action={t.activities.create}
      opened={opened}
      onClose={onClose}
      sending={sending}
      problem={problem}
      onSubmit={create}
    >
      <div className="activity-fields">
        <TextInput
          label={t.activities.subject}
          required
          maxLength={255}
          data-autofocus
          {...form.getInputProps('subject')}
        />
        <div className="activity-pair">
          <Select
            label={t.activities.type}
            data={activity_types.map((value) => ({ value, label: t.activities.types[value] }))}
            allowDeselect={false}
            {...form.getInputProps('type')}
          />
          <TextInput type="datetime-local" label={t.activities.due} {...form.getInputProps('due_at')} />
        </div>
        {links.map(([field, kind, name]) => (
          <ReferenceInput
            key={field}
            label={t.activities[name]}
            kind={kind}
            search={searches[kind]}
            value={form.values[field]}
            onChange={(choice) => form.setFieldValue(field, choice)}
            error={form.errors[field]}
          />
        ))}
        <Textarea
          label={t.activities.body}
          autosize
          minRows={2}
          maxRows={8}
          {...form.getInputProps('body')}
        />
      </div>
    </FormDialog>
  )
}
