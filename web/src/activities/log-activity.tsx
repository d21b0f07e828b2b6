import { SegmentedControl, TextInput } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { instantOf } from '../app/zones.ts'
import { RecordChooser } from '../record/fields/choices.tsx'
import type { CreateProps, Linked } from '../record/kinds.ts'
import { MentionInput } from '../record/notes/mention-input.tsx'
import { linkedIn } from '../record/page/create-record.tsx'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { MomentInput } from '../ui/inputs.tsx'
import type { Choice } from '../ui/reference.tsx'
import { offerUndo } from '../ui/undo.tsx'
import { activitiesApi } from './kind.tsx'
import { links } from './queries.ts'

const types = ['call', 'meeting', 'email', 'other'] as const
type Type = (typeof types)[number]
const max_subject = 255

/** Whom or what the dialog is about: the person first. */
const aboutIn = ({ contact, deal, company }: Linked) => [contact, deal, company].filter((one) => !!one)

/** The dialog that logs what happened, with its outcome, and plans the next step. Both are stored, or none. */
export function LogActivity({ initial = {}, opened, onClose }: CreateProps) {
  const t = useTexts()
  const { zone } = useFormats()
  const refresh = useRefreshAfter('activities')
  const about = aboutIn(initial)
  const start = {
    type: 'call' as Type,
    outcome: '',
    body: '',
    next_subject: '',
    next_due_at: null as string | null,
    contact_id: initial.contact ?? null,
    company_id: initial.company ?? null,
    deal_id: initial.deal ?? null,
  }

  async function send(values: typeof start): Promise<number[]> {
    const { type, outcome, body, next_subject, next_due_at, ...chosen } = values
    const of = Object.fromEntries(
      links.map(([field]) => [field, (chosen[field] as Choice | null)?.id ?? null]),
    )
    const [first] = aboutIn({ contact: chosen.contact_id, deal: chosen.deal_id, company: chosen.company_id })
    const called = t.activities.types[type]
    const done = {
      ...of,
      type,
      outcome: outcome.trim() || null,
      body: body.trim() || null,
      subject: (first ? t.activities.logged_with({ type: called, name: first.name }) : called).slice(
        0,
        max_subject,
      ),
      completed_at: new Date().toISOString(),
    }
    const next = {
      ...of,
      type: 'task',
      subject: next_subject,
      due_at: next_due_at && instantOf(next_due_at, zone),
    }
    const items = next_subject.trim() || next_due_at ? [done, next] : [done]
    const results = await activitiesApi.batch(
      items.map((data) => ({ op: 'create', data })),
      { atomic: true },
    )
    return results.flatMap(({ id }) => id ?? [])
  }

  return (
    <FormDialog
      draft={`log${linkedIn(start)}`}
      title={about[0] ? t.record.log_with({ name: about[0].name }) : t.record.log}
      action={t.activities.log}
      opened={opened}
      onClose={onClose}
      start={start}
      check={({ next_subject, next_due_at }) =>
        next_due_at && !next_subject.trim() ? { next_subject: t.activities.no_next_subject } : {}
      }
      send={send}
      onSent={(ids) => {
        refresh()
        offerUndo(t, ids.length > 1 ? t.activities.logged_and_planned : t.activities.logged_one, async () => {
          await activitiesApi.batch(
            ids.map((id) => ({ op: 'delete', id })),
            { atomic: true },
          )
          await refresh()
        })
      }}
    >
      {({ getInputProps }) => (
        <>
          <SegmentedControl
            fullWidth
            aria-label={t.fields.type}
            data={types.map((value) => ({ value, label: t.activities.types[value] }))}
            {...getInputProps('type')}
          />
          <TextInput
            label={t.fields.outcome}
            placeholder={t.activities.outcome_hint}
            maxLength={255}
            data-autofocus
            {...getInputProps('outcome')}
          />
          <MentionInput
            label={t.activities.note}
            placeholder={t.record.mention_hint}
            minRows={2}
            maxRows={8}
            {...getInputProps('body')}
          />
          {!about.length &&
            links.map(([field, kind]) => <RecordChooser key={field} kind={kind} {...getInputProps(field)} />)}
          <div className="form-pair">
            <TextInput
              label={t.activities.next_step}
              placeholder={t.activities.next_step_hint}
              maxLength={max_subject}
              {...getInputProps('next_subject')}
            />
            <MomentInput label={t.fields.due_at} {...getInputProps('next_due_at')} />
          </div>
        </>
      )}
    </FormDialog>
  )
}
