import { Select, Textarea, TextInput } from '@mantine/core'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { instantOf } from '../app/zones.ts'
import { searches } from '../record/choices.ts'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog } from '../ui/form.tsx'
import { MomentInput } from '../ui/inputs.tsx'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
import { tell } from '../ui/undo.tsx'
import { type Activity, type ActivityType, activity_types, links, touched } from './queries.ts'

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
  const refresh = useRefresh()
  return (
    <FormDialog
      title={t.activities.create}
      action={t.activities.create}
      opened={opened}
      onClose={onClose}
      start={{
        subject: initial?.subject ?? '',
        type: initial?.type ?? 'task',
        due_at: null as string | null,
        body: '',
        contact_id: initial?.contact ?? null,
        company_id: initial?.company ?? null,
        deal_id: initial?.deal ?? null,
      }}
      send={({ due_at, body, contact_id, company_id, deal_id, ...values }) =>
        dataOf(
          api.POST('/api/v1/activities', {
            body: {
              ...{ ...values, body: body || null, due_at: due_at && instantOf(due_at, zone) },
              contact_id: contact_id?.id ?? null,
              company_id: company_id?.id ?? null,
              deal_id: deal_id?.id ?? null,
            },
          }),
        )
      }
      onSent={(activity) => {
        tell(t.activities.created_one(activity.subject))
        refresh(...touched)
        onCreated?.(activity)
      }}
    >
      {({ getInputProps }) => (
        <>
          <TextInput
            label={t.activities.subject}
            required
            maxLength={255}
            data-autofocus
            {...getInputProps('subject')}
          />
          <div className="form-pair">
            <Select
              label={t.activities.type}
              data={activity_types.map((value) => ({ value, label: t.activities.types[value] }))}
              allowDeselect={false}
              {...getInputProps('type')}
            />
            <MomentInput label={t.activities.due} {...getInputProps('due_at')} />
          </div>
          {links.map(([field, kind, name]) => (
            <ReferenceInput
              key={field}
              label={t.activities[name]}
              kind={kind}
              search={searches[kind]}
              {...getInputProps(field)}
            />
          ))}
          <Textarea label={t.activities.body} autosize minRows={2} maxRows={8} {...getInputProps('body')} />
        </>
      )}
    </FormDialog>
  )
}
