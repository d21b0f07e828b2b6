import { Button } from '@mantine/core'
import type { RecordOf } from '../api/record-api.ts'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { late } from '../app/late.ts'
import { instantOf, wallOf } from '../app/zones.ts'
import { Facts } from '../record/fields/facts.tsx'
import type { RecordProps } from '../record/kinds.ts'
import { MentionText } from '../record/notes/mention-text.tsx'
import { RecordView } from '../record/page/record-view.tsx'
import { useTexts } from '../texts/texts.ts'
import { Field } from '../ui/fields.tsx'
import { oneClick } from '../ui/one-press.ts'
import { Ago } from '../ui/values.tsx'
import { CompleteCircle } from './complete-circle.tsx'
import { Due, TypeLabel } from './labels.tsx'
import { activity_types, links, useActivityActions } from './queries.ts'

const MentionInput = late(async () => (await import('../record/notes/mention-input.tsx')).MentionInput)

type Activity = RecordOf<'activities'>

/** An activity with all its fields, each changed in place. */
export function ActivityRecord(props: RecordProps) {
  const t = useTexts()
  const { zone } = useFormats()
  return (
    <RecordView kind="activities" {...props}>
      {(activity, save) => {
        const { type, due_at, completed_at } = activity
        const saving = (field: keyof Activity) => save && ((value: unknown) => save({ [field]: value }))
        return {
          icon: <CompleteCircle activity={activity} />,
          subtitle: <TypeLabel type={type} />,
          actions: save && <CompleteButton activity={activity} />,
          facts: (
            <div className="fields">
              <Field
                name="subject"
                label={t.fields.subject}
                value={activity.subject}
                onSave={saving('subject')}
              />
              <Field
                label={t.fields.type}
                value={type}
                shown={<TypeLabel type={type} />}
                options={activity_types.map((value) => ({ value, label: t.activities.types[value] }))}
                required
                onSave={saving('type')}
              />
              <Field
                name="due_at"
                label={t.fields.due_at}
                kind="moment"
                value={due_at && wallOf(due_at, zone)}
                shown={due_at ? <Due activity={activity} /> : undefined}
                onSave={save && ((wall) => save({ due_at: wall ? instantOf(String(wall), zone) : null }))}
              />
              {completed_at && (
                <Field
                  label={t.activities.completed}
                  value={completed_at}
                  shown={<Ago at={completed_at} />}
                />
              )}
              <Facts kind="activities" record={activity} fields={links} save={save} />
            </div>
          ),
          tabs: [
            {
              id: 'body',
              label: t.activities.facts,
              content: (
                <div className="fields record-prose">
                  <Field
                    name="body"
                    label={t.activities.body}
                    kind="long"
                    value={activity.body}
                    shown={activity.body && <MentionText text={activity.body} />}
                    Input={MentionInput}
                    onSave={saving('body')}
                  />
                  <Field
                    name="outcome"
                    label={t.fields.outcome}
                    value={activity.outcome}
                    onSave={saving('outcome')}
                  />
                </div>
              ),
            },
          ],
        }
      }}
    </RecordView>
  )
}

/** Completes the activity or opens it again, also by its key. */
function CompleteButton({ activity }: { activity: Activity }) {
  const t = useTexts()
  const actions = useActivityActions()
  const { completed_at } = activity
  const label = completed_at ? t.activities.reopen : t.activities.complete
  const toggle = () => (completed_at ? actions.reopen(activity) : actions.complete([activity]))
  useCommands([{ id: 'toggle-activity', label, group: 'actions', keys: 'd', run: toggle }])
  return (
    <Button variant={completed_at ? 'default' : 'filled'} onClick={oneClick(toggle)}>
      {label}
    </Button>
  )
}
