import { Select, TextInput } from '@mantine/core'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { searches } from '../record/choices.ts'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog } from '../ui/form.tsx'
import { DayInput, NumberInput } from '../ui/inputs.tsx'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
import { tell } from '../ui/undo.tsx'
import { type Deal, touched } from './deals.ts'
import { StageMark } from './stage-badge.tsx'
import { default_probabilities, type Stage, stages } from './stages.ts'

// A deal is lost for a reason, which is asked when it is moved there.
const first_stages = stages.filter((stage) => stage !== 'lost')

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
  const { currency, locale } = formats
  const parts = new Intl.NumberFormat(locale, { style: 'currency', currency }).formatToParts(0)
  return (
    <FormDialog
      title={t.deals.create}
      action={t.deals.create}
      opened={opened}
      onClose={onClose}
      start={{
        name: initial?.name ?? '',
        stage: initial?.stage ?? 'new_lead',
        value: null as number | null,
        probability: null as number | null,
        expected_close_date: null as string | null,
        contact_id: initial?.contact ?? null,
        company_id: initial?.company ?? null,
      }}
      send={({ contact_id, company_id, ...values }) => {
        const ids = { contact_id: contact_id?.id ?? null, company_id: company_id?.id ?? null }
        return dataOf(api.POST('/api/v1/deals', { body: { ...values, ...ids } }))
      }}
      onSent={(deal) => {
        tell(t.deals.created(deal.name))
        refresh(...touched)
        onCreated?.(deal)
      }}
    >
      {({ values: { stage }, getInputProps }) => (
        <>
          <TextInput
            label={t.deals.name}
            required
            data-autofocus
            maxLength={255}
            {...getInputProps('name')}
          />
          <div className="form-pair">
            <NumberInput
              label={t.deals.value}
              leftSection={
                <span className="field-none" aria-hidden>
                  {parts.find(({ type }) => type === 'currency')?.value}
                </span>
              }
              {...getInputProps('value')}
            />
            <DayInput label={t.deals.expected_close_date} {...getInputProps('expected_close_date')} />
            <Select
              label={t.deals.stage}
              allowDeselect={false}
              data={first_stages.map((one) => ({ value: one, label: t.deals.stages[one] }))}
              leftSection={<StageMark stage={stage} />}
              {...getInputProps('stage')}
            />
            <NumberInput
              label={`${t.deals.probability} (%)`}
              placeholder={formats.number(default_probabilities[stage])}
              {...getInputProps('probability')}
            />
          </div>
          <ReferenceInput
            label={t.deals.company}
            kind="companies"
            search={searches.companies}
            {...getInputProps('company_id')}
          />
          <ReferenceInput
            label={t.deals.contact}
            kind="contacts"
            search={searches.contacts}
            {...getInputProps('contact_id')}
          />
        </>
      )}
    </FormDialog>
  )
}
