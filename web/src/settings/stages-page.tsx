import { ActionIcon, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { ArrowDownIcon, ArrowUpIcon, XIcon } from '@primer/octicons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type Aborted, api, dataOf, type Schemas } from '../api/client.ts'
import { ProblemNote } from '../app/problems.tsx'
import { sessionQuery, useMay } from '../app/session.ts'
import { StageMark } from '../deals/stage-badge.tsx'
import { isOpen, type Stage, stageVariable } from '../deals/stages.ts'
import { useTexts } from '../texts/with-settings.ts'
import { focusBeside, off } from '../ui/focus.ts'
import { GrowingTextarea } from '../ui/growing-textarea.tsx'
import { NumberInput } from '../ui/late-inputs.tsx'
import { problemOfList, withoutEntries } from '../ui/list-problems.ts'
import { mergeSettings } from './merge-settings.ts'
import { SavedForm } from './saved-form.tsx'
import { SettingsFrame } from './settings-frame.tsx'
import './stages-page.css'

type Settings = Schemas['StageSettings']
/** The lists as they are edited: a value on each line. */
type Values = { deal_stages: Settings['deal_stages']; lost_reasons: string; contact_stages: string }
type Form = UseFormReturnType<Values>

const path = '/api/v1/workspace/stages'
const settingsQuery = {
  queryKey: ['stage_settings'],
  queryFn: ({ signal }: Aborted) => dataOf(api.GET(path, { signal })),
}
const lists = ['lost_reasons', 'contact_stages'] as const
const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || [])
const settingsOf = ({ deal_stages, ...texts }: Partial<Values>): Partial<Settings> => ({
  ...(deal_stages && { deal_stages }),
  ...Object.fromEntries(Object.entries(texts).map(([list, text]) => [list, linesOf(text)])),
})

/** The stages of deals as this workspace sells, and the texts that it offers. */
export function StagesPage() {
  const t = useTexts()
  const client = useQueryClient()
  const writes = useMay()('workspace:write')
  const { data, error, refetch } = useQuery(settingsQuery)
  async function send(changes: Partial<Values>, began: Values) {
    const body = mergeSettings(
      settingsOf(began) as Settings,
      settingsOf(changes),
      await dataOf(api.GET(path)),
    )
    const stored = await dataOf(api.PUT(path, { body }))
    // The rest of the app has the stages of the session, and the sums of deals follow from them.
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
    client.invalidateQueries({ queryKey: ['deals'] })
    client.invalidateQueries({ queryKey: ['reports'] })
    // Last: the form takes what was sent as saved, and then shows what colleagues have changed.
    client.setQueryData(settingsQuery.queryKey, stored)
  }
  return (
    <SettingsFrame
      title={t.settings.pages.stages.label}
      api={{ method: 'PUT', path: '/workspace/stages', body: { lost_reasons: [t.deals.reasons.price] } }}
    >
      {error && <ProblemNote error={error} onRetry={() => refetch()} />}
      {data && (
        <SavedForm<Values>
          saved={{
            deal_stages: data.deal_stages,
            lost_reasons: data.lost_reasons.join('\n'),
            contact_stages: data.contact_stages.join('\n'),
          }}
          writes={writes}
          nested={['deal_stages', ...lists]}
          send={send}
        >
          {(form) => (
            <>
              <Stages form={form} />
              {lists.map((list) => (
                <GrowingTextarea
                  key={list}
                  className="stage-texts"
                  label={t.stages[list]}
                  description={
                    list === 'lost_reasons' ? t.stages.lost_reasons_text : t.stages.contact_stages_text
                  }
                  minRows={3}
                  maxRows={12}
                  {...form.getInputProps(list)}
                  onChange={(event) => {
                    form.getInputProps(list).onChange(event)
                    form.setErrors((errors) => withoutEntries(errors, list))
                  }}
                  error={problemOfList(form.errors, list)}
                />
              ))}
            </>
          )}
        </SavedForm>
      )}
    </SettingsFrame>
  )
}

function Stages({ form }: { form: Form }) {
  const t = useTexts()
  const { deal_stages } = form.getValues()
  const open_count = deal_stages.filter(({ stage }) => isOpen(stage)).length
  return (
    <table className="stages">
      <thead>
        <tr>
          <th>{t.stages.colour}</th>
          <th>{t.stages.name}</th>
          <th>{t.fields.probability} (%)</th>
          <th>{t.stages.stale_after}</th>
          <th aria-label={t.stages.order} />
        </tr>
      </thead>
      <tbody>
        {deal_stages.map(({ stage, label }, at) => (
          <StageRow
            key={stage}
            form={form}
            at={at}
            stage={stage}
            name={label ?? t.deals.stages[stage]}
            last_place={isOpen(stage) ? open_count - 1 : -1}
          />
        ))}
      </tbody>
    </table>
  )
}

type RowProps = {
  form: Form
  at: number
  stage: Stage
  name: string
  /** The last place to which it can move; -1 if it stays where it is. */
  last_place: number
}

/** The colour of a stage without an own one. The chooser of the browser needs a value. */
const usualColour = (stage: Stage) =>
  getComputedStyle(document.documentElement).getPropertyValue(stageVariable(stage)).trim()

function StageRow({ form, at, stage, name, last_place }: RowProps) {
  const t = useTexts()
  const of = (field: string) => form.getInputProps(`deal_stages.${at}.${field}`)
  const label = of('label')
  const colour = of('colour')
  const moves = [
    [t.stages.move_up({ name }), ArrowUpIcon, at - 1],
    [t.stages.move_down({ name }), ArrowDownIcon, at + 1],
  ] as const
  return (
    <tr>
      <td>
        <span className="stage-colours">
          <label className="stage-colour">
            <span style={{ [stageVariable(stage)]: colour.value ?? undefined }}>
              <StageMark stage={stage} />
            </span>
            <input
              type="color"
              aria-label={t.stages.colour_of({ name })}
              value={colour.value ?? usualColour(stage)}
              onChange={(event) => colour.onChange(event.currentTarget.value)}
            />
          </label>
          {colour.value && (
            <ActionIcon
              ref={focusBeside}
              aria-label={t.stages.usual_colour({ name })}
              title={t.stages.usual_colour({ name })}
              onClick={() => colour.onChange(null)}
            >
              <XIcon size={14} />
            </ActionIcon>
          )}
        </span>
      </td>
      <td>
        <TextInput
          size="xs"
          aria-label={t.stages.name_of({ name: t.deals.stages[stage] })}
          placeholder={t.deals.stages[stage]}
          maxLength={60}
          {...label}
          value={label.value ?? ''}
          onChange={(event) => label.onChange(event.currentTarget.value || null)}
        />
      </td>
      <td>
        <NumberInput
          size="xs"
          w={64}
          hideControls
          aria-label={t.stages.probability_of({ name })}
          min={0}
          max={100}
          allowDecimal={false}
          {...of('probability')}
        />
      </td>
      <td>
        {isOpen(stage) && (
          <NumberInput
            size="xs"
            w={64}
            hideControls
            aria-label={t.stages.stale_after_of({ name })}
            min={1}
            max={3650}
            allowDecimal={false}
            {...of('stale_after_days')}
          />
        )}
      </td>
      <td>
        {isOpen(stage) &&
          moves.map(([text, Sign, to]) => (
            <ActionIcon
              key={text}
              aria-label={text}
              title={text}
              {...off(to < 0 || to > last_place)}
              onClick={() => {
                if (to >= 0 && to <= last_place) form.reorderListItem('deal_stages', { from: at, to })
              }}
            >
              <Sign size={14} />
            </ActionIcon>
          ))}
      </td>
    </tr>
  )
}
