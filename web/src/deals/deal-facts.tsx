import { useFormats } from '../app/formats.ts'
import { type Fact, Facts, type Save } from '../record/fields/facts.tsx'
import { useTexts } from '../texts/texts.ts'
import { Field } from '../ui/fields.tsx'
import { Ago } from '../ui/values.tsx'
import { CloseDate } from './close-date.tsx'
import type { Deal } from './deals.ts'
import { default_probabilities } from './stages.ts'

const first: readonly Fact<'deals'>[] = [
  ['name', 'text'],
  ['value', 'money'],
]
const references: readonly Fact<'deals'>[] = [
  ['company_id', 'companies'],
  ['contact_id', 'contacts'],
]
const others: readonly Fact<'deals'>[] = [
  ['priority', 'text'],
  ['source', 'text'],
]

/** The facts of a deal, each edited where it stands. */
export function DealFacts({ deal, save }: { deal: Deal; save: Save<'deals'> }) {
  const t = useTexts()
  const formats = useFormats()
  const { status, stage, probability, expected_close_date, closed_at } = deal
  const saving = (name: keyof Deal) => save && ((value: string | number | null) => save({ [name]: value }))
  const as_stage = probability === default_probabilities[stage]
  const facts = (fields: readonly Fact<'deals'>[]) => (
    <Facts kind="deals" record={deal} fields={fields} save={save} />
  )
  return (
    <div className="fields">
      {facts(first)}
      <Field
        name="probability"
        label={t.fields.probability}
        kind="number"
        value={probability}
        shown={
          <>
            <span className="numbers">{formats.percent(probability / 100)}</span>
            {as_stage && <span className="soft"> · {t.deals.probability_default}</span>}
          </>
        }
        onSave={saving('probability')}
      />
      <Field
        name="expected_close_date"
        label={t.fields.expected_close_date}
        kind="date"
        value={expected_close_date}
        shown={expected_close_date === null ? undefined : <CloseDate deal={deal} />}
        onSave={saving('expected_close_date')}
      />
      {facts(references)}
      {status === 'lost' && facts([['lost_reason', 'text']])}
      {facts(others)}
      {closed_at && <Field label={t.deals.closed_at} value={closed_at} shown={<Ago at={closed_at} />} />}
    </div>
  )
}
