import type { Schemas } from '../api/client.ts'
import type { Texts } from '../texts/with-settings.ts'

export type Condition = NonNullable<Schemas['WebhookCreate']['conditions']>[number]
export type Operator = keyof Texts['webhooks']['operators']
type Write = (value: number) => string

/** The operator as a person chooses it: `exists` false is one of its own. */
export const operatorOf = ({ op, value }: Pick<Condition, 'op' | 'value'>): Operator =>
  op === 'exists' && value === false ? 'not_exists' : op

/** A field's path as a sentence has it: without `data.`. */
export const shortField = (field: string): string => field.replace(/^data\./, '')

/** A value of a condition or of a payload, as text. */
export function valueText(value: unknown, t: Texts, number: Write): string {
  if (value === null || value === undefined || value === '') return t.webhooks.nothing
  if (typeof value === 'boolean') return value ? t.app.yes : t.app.no
  if (typeof value === 'number') return number(value)
  if (Array.isArray(value))
    return value.map((one) => valueText(one, t, number)).join(', ') || t.webhooks.nothing
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A condition as a sentence: `value is at least 10,000`. */
export function conditionText(condition: Condition, t: Texts, number: Write): string {
  const { field, op, value } = condition
  const words = [shortField(field), t.webhooks.operators[operatorOf(condition)]]
  if (op !== 'exists') words.push(valueText(value, t, number))
  return words.join(' ')
}
