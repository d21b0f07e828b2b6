import { Button } from '@mantine/core'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { instantOf, wallOf } from '../app/zones.ts'
import { RecordLayout } from '../record/record-layout.tsx'
import { ReadRecord } from '../record/record-page.tsx'
import { ReferenceField, referenceTo } from '../record/reference-field.tsx'
import { useStored } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { DeleteButton } from '../ui/delete-button.tsx'
import { Field } from '../ui/fields.tsx'
import { Ago } from '../ui/values.tsx'
import { CompleteCircle, Due, TypeLabel } from './parts.tsx'
import {
  type Activity,
  activity_types,
  activityQuery,
  changeActivity,
  links,
  touched,
  useActivityActions,
} from './queries.ts'

type Props = { id: number; panel?: boolean; onLeave: () => unknown }

/** An activity with all its fields, each changed in place. */
export function ActivityRecord({ id, panel = false, onLeave }: Props) {
  return (
    <ReadRecord query={activityQuery(id)}>
      {(activity) => <KnownActivity activity={activity} panel={panel} onLeave={onLeave} />}
    </ReadRecord>
  )
}

type KnownProps = { activity: Activity } & Required<Pick<Props, 'panel' | 'onLeave'>>

function KnownActivity({ activity, panel, onLeave }: KnownProps) {
  const t = useTexts()
  const { zone } = useFormats()
  const may = useMay()('activities:write')
  const actions = useActivityActions()
  const { id, subject, type, due_at, completed_at, outcome, body } = activity

  const store = useStored(
    activityQuery(id),
    (changes: Partial<Activity>) => changeActivity(id, changes),
    touched,
  )
  const saving = (field: keyof Activity) =>
    may ? (value: unknown) => store({ [field]: value } as Partial<Activity>) : undefined
  const toggle = () => (completed_at ? actions.reopen(activity) : actions.complete([activity]))
  async function remove() {
    await onLeave()
    await actions.remove([activity])
  }
  useCommands(
    may
      ? [
          {
            ...{ id: 'toggle-activity', group: 'actions', keys: 'd', run: toggle },
            label: completed_at ? t.activities.reopen : t.activities.complete,
          },
          { id: 'delete-activity', label: t.app.delete, group: 'actions', run: remove },
        ]
      : [],
  )
  const facts = (
    <div className="fields">
      <Field label={t.activities.subject} value={subject} onSave={saving('subject')} />
      <Field
        label={t.activities.type}
        value={type}
        shown={<TypeLabel type={type} />}
        options={activity_types.map((value) => ({ value, label: t.activities.types[value] }))}
        required
        onSave={saving('type')}
      />
      <Field
        label={t.activities.due}
        kind="moment"
        value={due_at && wallOf(due_at, zone)}
        shown={due_at ? <Due activity={activity} /> : undefined}
        onSave={may ? (wall) => store({ due_at: wall ? instantOf(String(wall), zone) : null }) : undefined}
      />
      {completed_at && (
        <Field label={t.activities.completed} value={completed_at} shown={<Ago at={completed_at} />} />
      )}
      {links.map(([field, kind, name]) => (
        <ReferenceField
          key={field}
          label={t.activities[name]}
          kind={kind}
          value={referenceTo(activity[field])}
          onSave={saving(field)}
        />
      ))}
      <Field label={t.app.created_at} value={activity.created_at} shown={<Ago at={activity.created_at} />} />
      <Field label={t.app.updated_at} value={activity.updated_at} shown={<Ago at={activity.updated_at} />} />
    </div>
  )
  return (
    <RecordLayout
      icon={<CompleteCircle activity={activity} />}
      title={subject}
      subtitle={<TypeLabel type={type} />}
      panel={panel}
      editable={may}
      back={{ to: '/activities', label: t.app.activities }}
      facts={facts}
      tabs={[
        {
          id: 'body',
          label: t.activities.facts,
          content: (
            <div className="fields record-prose">
              <Field label={t.activities.body} kind="long" value={body} onSave={saving('body')} />
              <Field label={t.activities.outcome} value={outcome} onSave={saving('outcome')} />
            </div>
          ),
        },
      ]}
      actions={
        may && (
          <>
            <Button variant={completed_at ? 'default' : 'filled'} onClick={toggle}>
              {completed_at ? t.activities.reopen : t.activities.complete}
            </Button>
            <DeleteButton label={t.app.delete} onDelete={remove} />
          </>
        )
      }
    />
  )
}
