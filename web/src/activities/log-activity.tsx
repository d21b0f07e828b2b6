import { SegmentedControl, Select, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useFormats } from '../app/formats.ts'
import { instantOf } from '../app/zones.ts'
import { openDealsQuery } from '../deals/open-deals.ts'
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
import { visible } from '../ui/visible.ts'
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
  const client = useQueryClient()
  const about = aboutIn(initial)
  const { contact, company } = initial
  const open_deals = openDealsQuery(contact ? { contact_id: contact.id } : { company_id: company?.id ?? 0 })
  const asks_deal = about.length > 0 && !initial.deal
  const { data: { data: deals } = { data: [] } } = useQuery({ ...open_deals, enabled: opened && asks_deal })
  const start = {
    type: 'call' as Type,
    outcome: '',
    body: '',
    happened_at: null as string | null,
    next_subject: '',
    next_due_at: null as string | null,
    /** Of the open deals: null until it is chosen, empty for none. */
    open_deal: null as string | null,
    contact_id: contact ?? null,
    company_id: company ?? null,
    deal_id: initial.deal ?? null,
  }

  async function send(values: typeof start): Promise<number[]> {
    const { type, outcome, body, happened_at, next_subject, next_due_at, open_deal, ...chosen } = values
    const deal_id = asks_deal
      ? dealOf(open_deal, (await client.ensureQueryData(open_deals)).data)
      : (chosen.deal_id?.id ?? null)
    const of = {
      ...Object.fromEntries(links.map(([field]) => [field, (chosen[field] as Choice | null)?.id ?? null])),
      deal_id,
    }
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
      completed_at: happened_at ? instantOf(happened_at, zone) : new Date().toISOString(),
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
      check={({ happened_at, next_subject, next_due_at }) => ({
        ...(happened_at &&
          Date.parse(instantOf(happened_at, zone)) > Date.now() && {
            happened_at: t.activities.still_to_come,
          }),
        ...(next_due_at && !next_subject.trim() && { next_subject: t.activities.no_next_subject }),
      })}
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
      {({ getInputProps, setFieldValue, values }) => (
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
          <div className="form-pair">
            <MomentInput
              label={t.activities.when}
              {...getInputProps('happened_at')}
              placeholder={t.activities.when_hint}
            />
            {asks_deal && deals.length > 0 && (
              <Select
                label={t.kinds.deals.one}
                placeholder={deals.length > 1 ? t.activities.which_deal({ n: deals.length }) : undefined}
                clearable
                data={deals.map(({ id, name }) => ({ value: String(id), label: visible(name) }))}
                {...getInputProps('open_deal')}
                value={String(dealOf(values.open_deal, deals) ?? '')}
                onChange={(id) => setFieldValue('open_deal', id ?? '')}
              />
            )}
          </div>
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

/** The chosen deal; without a choice, the only one. */
const dealOf = (chosen: string | null, deals: readonly { id: number }[]): number | null =>
  chosen === null ? (deals.length === 1 ? (deals[0]?.id ?? null) : null) : Number(chosen) || null
