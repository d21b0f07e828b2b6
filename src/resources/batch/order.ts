import { uniqueValue } from '../../custom-fields/defined-values.ts'
import { customValue, type Definition } from '../../custom-fields/definition-rules.ts'
import type { CustomFields } from '../../http/fields.ts'
import type { Outcome } from './items.ts'

// Items of a batch that run together judge unique values before the others of them have written.

type Values = Pick<Outcome, 'before' | 'after' | 'error'>

/**
 * Whether the items would have other outcomes one after the other: an item takes a unique value that a later one frees, or
 * cannot take one although an earlier one frees values of the field.
 */
export function dependOnOrder(definitions: readonly Definition[], outcomes: readonly Values[]): boolean {
  return definitions.some((definition) => definition.is_unique && isExchanged(definition, outcomes))
}

function isExchanged(definition: Definition, outcomes: readonly Values[]): boolean {
  const taken = new Set<string>()
  let is_freed = false
  for (const { before, after, error } of outcomes) {
    if (is_freed && isTaken(definition, error)) return true
    const [old, current] = [textOf(definition, before), textOf(definition, after)]
    if (old === current) continue
    if (old !== null) {
      if (taken.has(old)) return true
      is_freed = true
    }
    if (current !== null) taken.add(current)
  }
  return false
}

// A restore says so by its reason.
const isTaken = ({ key }: Definition, error: Outcome['error']): boolean =>
  error?.reason === 'unique_value_taken' ||
  (error?.fields?.some(({ field, code }) => code === 'taken' && field === `custom_fields.${key}`) ?? false)

function textOf({ type, key }: Definition, view: object | null): string | null {
  const { custom_fields = {} } = (view ?? {}) as { custom_fields?: CustomFields }
  const value = customValue(custom_fields, key)
  return value === undefined ? null : uniqueValue(type, value)
}
