import { NumberInput, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { searches } from '../record/choices.ts'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { DayInput } from '../ui/day-input.tsx'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
import { tell } from '../ui/undo.tsx'
import { type Deal, touched } from './deals.ts'
import { StageMark } from './stage-badge.tsx'
import { default_probabilities, type Stage, stages } from './stages.ts'

/** What a new deal begins with, such as the contact whose page it is created on. */
export type DealBeginning = {
  name?: string
  stage?: Stage
  contact?: Choice | null
  company?: Choice | null
}
type Props = {
  opened: boolean
  onClose: () => void
  initial?: DealBeginning
  onCreated?: (deal: Deal) => void
}

/** The dialog that creates a deal. */
export function CreateDeal({ opened, onClose, initial, onCreated }: Props) {
  const t = useTexts()
  const formats = useFormats()
  const refresh = useRefresh()
  const start = {
    name: initial?.name ?? '',
    stage: initial?.stage ?? ('new_lead' as Stage),
    value: '' as number | string,
    probability: '' as number | string,
    expected_close_date: null as string | null,
    contact_id: initial?.contact ?? null,
    company_id: initial?.company ?? null,
  }
  const { form, submit, sending, problem } = useRecordForm(start, opened)
  const { stage, company_id, contact_id, expected_close_date } = form.values
  // What is written for the day is none: the field says so, and nothing is created without it.
  const [no_day, setNoDay] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each opening begins anew
  useEffect(() => setNoDay(false), [opened])

  async function create() {
    if (no_day) return
    const numberOf = (given: number | string) => (given === '' ? null : Number(given))
    const done = await submit(async ({ value, probability, contact_id, company_id, ...values }) => {
      const body = {
        ...values,
        ...{ value: numberOf(value), probability: numberOf(probability) },
        ...{ contact_id: contact_id?.id ?? null, company_id: company_id?.id ?? null },
      }
      const deal = await dataOf(api.POST('/api/v1/deals', { body }))
      await refresh(...touched)
      tell(t.deals.created(deal.name))
      onCreated?.(deal)
    })
    if (done) onClose()
  }
  return (
    <FormDialog
      title={t.deals.create}
      opened={opened}
      onClose={onClose}
      action={t.deals.create}
      sending={sending}
      problem={problem}
      onSubmit={create}
    >
      <Stack gap="md">
        <TextInput
          label={t.deals.name}
          required
          data-autofocus
          maxLength={255}
          {...form.getInputProps('name')}
        />
        <SimpleGrid cols={2} spacing="md">
          <AmountInput label={t.deals.value} {...form.getInputProps('value')} />
          <DayInput
            label={t.deals.expected_close_date}
            value={expected_close_date}
            onDay={(day) => {
              setNoDay(day === undefined)
              if (day !== undefined) form.setFieldValue('expected_close_date', day)
            }}
            error={form.errors.expected_close_date}
          />
          <Select
            label={t.deals.stage}
            allowDeselect={false}
            data={stages.map((one) => ({ value: one, label: t.deals.stages[one] }))}
            leftSection={<StageMark stage={stage} />}
            {...form.getInputProps('stage')}
          />
          <NumberInput
            label={`${t.deals.probability} (%)`}
            min={0}
            max={100}
            allowDecimal={false}
            hideControls
            placeholder={formats.number(default_probabilities[stage])}
            {...form.getInputProps('probability')}
          />
        </SimpleGrid>
        <ReferenceInput
          label={t.deals.company}
          kind="companies"
          search={searches.companies}
          value={company_id}
          onChange={(choice) => form.setFieldValue('company_id', choice)}
          error={form.errors.company_id}
        />
        <ReferenceInput
          label={t.deals.contact}
          kind="contacts"
          search={searches.contacts}
          value={contact_id}
          onChange={(choice) => form.setFieldValue('contact_id', choice)}
          error={form.errors.contact_id}
        />
      </Stack>
    </FormDialog>
  )
}

type AmountProps = React.ComponentProps<typeof NumberInput>

/** An amount in the workspace's currency, with the decimal sign of the reader's language. */
function AmountInput(props: AmountProps) {
  const { locale, currency } = useFormats()
  const parts = new Intl.NumberFormat(locale, { style: 'currency', currency }).formatToParts(0.1)
  const sign = (type: string) => parts.find((part) => part.type === type)?.value
  return (
    <NumberInput
      min={0}
      hideControls
      decimalScale={4}
      decimalSeparator={sign('decimal') ?? '.'}
      allowedDecimalSeparators={['.', ',']}
      leftSection={
        <span className="field-none" aria-hidden>
          {sign('currency')}
        </span>
      }
      {...props}
    />
  )
}
