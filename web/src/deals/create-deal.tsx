import { Select, TextInput } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { RecordChooser } from '../record/fields/choices.tsx'
import { type CreateProps, type Linked, useLabels } from '../record/kinds.ts'
import { CreateRecord } from '../record/page/create-record.tsx'
import { useTexts } from '../texts/texts.ts'
import { DayInput, MoneyInput, NumberInput } from '../ui/inputs.tsx'
import { StageMark } from './stage-badge.tsx'
import { default_probabilities, type Stage, stages } from './stages.ts'

type Props = CreateProps & { initial?: Linked & { stage?: Stage } }

/** The dialog that creates a deal. */
export function CreateDeal({ initial, ...dialog }: Props) {
  const t = useTexts()
  const formats = useFormats()
  const labelOf = useLabels('deals')
  return (
    <CreateRecord
      kind="deals"
      {...dialog}
      start={{
        name: '',
        stage: initial?.stage ?? ('new_lead' as Stage),
        value: null as number | null,
        probability: null as number | null,
        expected_close_date: null as string | null,
        contact_id: initial?.contact ?? null,
        company_id: initial?.company ?? null,
      }}
    >
      {({ values: { stage }, getInputProps }) => (
        <>
          <TextInput
            label={labelOf('name')}
            required
            data-autofocus
            maxLength={255}
            {...getInputProps('name')}
          />
          <div className="form-pair">
            <MoneyInput label={t.fields.value} {...getInputProps('value')} />
            <DayInput label={t.fields.expected_close_date} {...getInputProps('expected_close_date')} />
            <Select
              label={t.fields.stage}
              // A loss needs a reason, which the move to Lost asks for.
              data={stages
                .filter((one) => one !== 'lost')
                .map((one) => ({ value: one, label: t.deals.stages[one] }))}
              leftSection={<StageMark stage={stage} />}
              {...getInputProps('stage')}
            />
            <NumberInput
              label={`${t.fields.probability} (%)`}
              placeholder={formats.number(default_probabilities[stage])}
              {...getInputProps('probability')}
            />
          </div>
          <RecordChooser kind="companies" {...getInputProps('company_id')} />
          <RecordChooser kind="contacts" {...getInputProps('contact_id')} />
        </>
      )}
    </CreateRecord>
  )
}
