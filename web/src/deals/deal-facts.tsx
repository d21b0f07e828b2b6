import { useFormats } from '../app/formats.ts'
import { fullName } from '../record/choices.ts'
import { ReferenceField } from '../record/reference-field.tsx'
import { useStored } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { Field } from '../ui/fields.tsx'
import { Ago, Money } from '../ui/values.tsx'
import { CloseDate } from './close-date.tsx'
import { changeDeal, type Deal, type DealChanges, dealQuery, touched } from './deals.ts'
import { default_probabilities } from './stages.ts'
import '../ui/fields.css'

/** The facts of a deal, each edited where it stands. */
export function DealFacts({ deal, writes }: { deal: Deal; writes: boolean }) {
  const t = useTexts()
  const formats = useFormats()
  const { id, contact, company, status, stage, probability, closed_at } = deal

  const save = useStored(dealQuery(id), (changes: DealChanges) => changeDeal(id, changes), touched)
  const saves = (name: keyof DealChanges) =>
    writes ? (value: string | number | null) => save({ [name]: value }) : undefined
  const as_stage = probability === default_probabilities[stage]
  return (
    <div className="fields">
      <Field label={t.deals.name} value={deal.name} onSave={saves('name')} />
      <Field
        label={t.deals.value}
        kind="number"
        value={deal.value}
        shown={deal.value === null ? undefined : <Money value={deal.value} />}
        onSave={saves('value')}
      />
      <Field
        label={t.deals.probability}
        kind="number"
        value={probability}
        shown={
          <>
            <span className="numbers">{formats.percent(probability / 100)}</span>
            {as_stage && <span className="field-none"> · {t.deals.probability_default}</span>}
          </>
        }
        onSave={saves('probability')}
      />
      <Field
        label={t.deals.expected_close_date}
        kind="date"
        value={deal.expected_close_date}
        shown={deal.expected_close_date === null ? undefined : <CloseDate deal={deal} />}
        onSave={saves('expected_close_date')}
      />
      <ReferenceField
        label={t.deals.company}
        kind="companies"
        value={company}
        onSave={writes ? (company_id) => save({ company_id }) : undefined}
      />
      <ReferenceField
        label={t.deals.contact}
        kind="contacts"
        value={contact && { id: contact.id, name: fullName(contact) }}
        onSave={writes ? (contact_id) => save({ contact_id }) : undefined}
      />
      {status === 'lost' && (
        <Field label={t.deals.lost_reason} value={deal.lost_reason} onSave={saves('lost_reason')} />
      )}
      <Field label={t.deals.priority} value={deal.priority} onSave={saves('priority')} />
      <Field label={t.deals.source} value={deal.source} onSave={saves('source')} />
      {closed_at && <Field label={t.deals.closed_at} value={closed_at} shown={<Ago at={closed_at} />} />}
      <Field label={t.app.created_at} value={deal.created_at} shown={<Ago at={deal.created_at} />} />
      <Field label={t.app.updated_at} value={deal.updated_at} shown={<Ago at={deal.updated_at} />} />
    </div>
  )
}
