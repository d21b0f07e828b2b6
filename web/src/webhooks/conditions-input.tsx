import { type ComboboxItem, TextInput } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { includesText } from '../app/plain-text.ts'
import { useAllDefinitions } from '../record/fields/definitions.ts'
import { useTexts } from '../texts/with-settings.ts'
import { DayInput, NumberInput } from '../ui/inputs.tsx'
import { Autocomplete, Select, TagsInput } from '../ui/late-inputs.tsx'
import { readNumber, writeNumber } from '../ui/number.ts'
import {
  conditionFields,
  emptyFor,
  type FieldType,
  fitsBoth,
  operatorsOf,
  takesList,
  withOperator,
} from './condition-fields.ts'
import { type Condition, type Operator, operatorOf } from './condition-text.ts'
import { useEventTypes } from './event-types.ts'
import { RowsInput } from './rows-input.tsx'

type Errors = Record<string, React.ReactNode>
type Props = {
  events: readonly string[]
  value: Condition[]
  onChange: (conditions: Condition[]) => void
  errors: Errors
}
const text_field: FieldType = { kind: 'text', choices: [] }
const max_conditions = 20

/** The conditions of a webhook, in rows that read as sentences. */
export function ConditionsInput({ events, value, onChange, errors }: Props) {
  const t = useTexts()
  const { data: types } = useEventTypes()
  const definitions = useAllDefinitions()
  const fields = conditionFields(types, definitions, events)
  return (
    <RowsInput<Condition>
      legend={t.webhooks.conditions}
      hint={t.webhooks.conditions_text}
      value={value}
      onChange={onChange}
      error={errors.conditions}
      most={max_conditions}
      empty={{ field: '', op: 'eq', value: '' }}
      add={t.webhooks.add_condition}
      remove={t.webhooks.remove_condition}
      nameOf={t.webhooks.nth_condition}
      className="condition-row"
    >
      {(condition, put, index) => (
        <ConditionRow
          condition={condition}
          fields={fields}
          onChange={put}
          error={(part) => errors[`conditions.${index}.${part}`]}
        />
      )}
    </RowsInput>
  )
}

type RowProps = {
  condition: Condition
  fields: Map<string, FieldType>
  onChange: (condition: Condition) => void
  error: (part: string) => React.ReactNode
}

function ConditionRow({ condition, fields, onChange, error }: RowProps) {
  const t = useTexts()
  const { field, op } = condition
  const type = fields.get(field)
  const chosen = operatorOf(condition)
  const operators = Object.entries(t.webhooks.operators).filter(([one]) => {
    const offered = operatorsOf(type)
    return !offered || one === chosen || offered.includes(one as Operator)
  })
  return (
    <>
      <Autocomplete
        aria-label={t.webhooks.field}
        placeholder={t.webhooks.field}
        data={[...fields.keys()]}
        limit={100}
        value={field}
        error={error('field')}
        // A custom field is also found by its label.
        filter={({ options, search, limit }) =>
          (options as ComboboxItem[])
            .filter(({ value }) => includesText(`${value} ${fields.get(value)?.label ?? ''}`, search))
            .slice(0, limit)
        }
        renderOption={({ option: { value } }) => <FieldName field={value} label={fields.get(value)?.label} />}
        onChange={(chosen) => onChange(withField(condition, chosen, fields))}
      />
      <Select
        aria-label={t.webhooks.operator}
        data={operators.map(([value, label]) => ({ value, label }))}
        value={chosen}
        allowDeselect={false}
        error={error('op')}
        onChange={(chosen) => chosen && onChange(withOperator(condition, chosen as Operator))}
      />
      {op === 'exists' ? (
        <span />
      ) : (
        <ValueInput
          condition={condition}
          type={type ?? text_field}
          error={error('value')}
          onChange={onChange}
        />
      )}
    </>
  )
}

function FieldName({ field, label }: { field: string; label: string | undefined }) {
  return label ? (
    <span>
      {label} <span className="hint">{field}</span>
    </span>
  ) : (
    field
  )
}

/** The condition for another field. A value or an operator of another type would not fit it. */
function withField(condition: Condition, field: string, fields: Map<string, FieldType>): Condition {
  const type = fields.get(field)
  const same = fitsBoth(fields.get(condition.field), type)
  const value = same ? condition.value : emptyFor(condition.op)
  const changed = { ...condition, field, value }
  const offered = operatorsOf(type)
  const [first] = offered ?? []
  return !first || offered?.includes(operatorOf(condition)) ? changed : withOperator(changed, first)
}

type ValueProps = {
  condition: Condition
  type: FieldType
  error: React.ReactNode
  onChange: (condition: Condition) => void
}

function ValueInput({ condition, type: { kind, choices }, error, onChange }: ValueProps) {
  const t = useTexts()
  const { locale } = useFormats()
  const { op, value } = condition
  const put = (value: Condition['value']) => onChange({ ...condition, value })
  const common = { 'aria-label': t.webhooks.value, placeholder: t.webhooks.value, error }
  if (takesList(op)) {
    const read = (text: string) => (kind === 'number' ? (readNumber(text, locale) ?? text) : text)
    const write = (one: unknown) => (typeof one === 'number' ? writeNumber(one, locale) : String(one))
    return (
      <TagsInput
        aria-label={t.webhooks.values}
        placeholder={t.webhooks.values_text}
        error={error}
        data={choices}
        // A number may have a decimal comma.
        splitChars={[]}
        acceptValueOnBlur
        value={[value].flat().map(write)}
        onChange={(texts) => put(texts.map(read))}
      />
    )
  }
  if (op === 'contains')
    return (
      <TextInput
        {...common}
        value={String(value ?? '')}
        onChange={(event) => put(event.currentTarget.value)}
      />
    )
  if (kind === 'number')
    return (
      <NumberInput
        {...common}
        value={typeof value === 'number' ? value : null}
        onChange={(next) => put(next ?? '')}
      />
    )
  if (kind === 'boolean')
    return (
      <Select
        {...common}
        data={[
          { value: 'true', label: t.app.yes },
          { value: 'false', label: t.app.no },
        ]}
        value={typeof value === 'boolean' ? String(value) : null}
        onChange={(next) => put(next === null ? '' : next === 'true')}
      />
    )
  if (kind === 'day')
    return <DayInput {...common} value={value ? String(value) : null} onChange={(next) => put(next ?? '')} />
  return (
    <Autocomplete {...common} data={choices} value={String(value ?? '')} onChange={(next) => put(next)} />
  )
}
