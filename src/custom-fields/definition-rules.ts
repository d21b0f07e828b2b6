import { isDeepStrictEqual } from 'node:util'
import type { FieldCode, FieldProblem } from '../errors.ts'
import type { CustomFields } from '../http/fields.ts'
import { formats, isDay, isEmail } from '../http/formats.ts'
import type { FieldType, ValuedBy } from './defined-values.ts'

/** The definition of a custom field, as writes obey it. */
export type Definition = ValuedBy & {
  is_required: boolean
  /** The values that a `select` takes. */
  options: readonly string[]
}

type Judged = Pick<Definition, 'type' | 'options'>

const isUrl = (text: string): boolean =>
  text.length <= 2048 && /^https?:\/\/[^\s]+$/i.test(text) && URL.canParse(text)

// An error is for people: a long list of options ends here.
const shown_characters = 1000

function choices(options: readonly string[]): string {
  const text = options.join(', ')
  return text.length > shown_characters ? `${text.slice(0, shown_characters).toWellFormed()}…` : text
}

type Rule = {
  json: 'string' | 'number' | 'boolean'
  /** The rest of the message after the field's name: what a value must be. */
  accepts: string | ((judged: Judged) => string)
  code?: FieldCode
  takes?: (text: string, judged: Judged) => boolean
}
const rules: Record<FieldType, Rule> = {
  text: { json: 'string', accepts: 'must be a text' },
  number: { json: 'number', accepts: 'must be a number' },
  boolean: { json: 'boolean', accepts: 'must be true or false' },
  date: { json: 'string', accepts: `must be ${formats.day}`, takes: isDay },
  select: {
    json: 'string',
    accepts: ({ options }) => `must be one of ${choices(options)}`,
    code: 'unknown_value',
    takes: (text, { options }) => options.includes(text),
  },
  url: {
    json: 'string',
    accepts: 'must be a URL that starts with http:// or https://, of at most 2048 characters',
    takes: isUrl,
  },
  email: { json: 'string', accepts: `must be ${formats.email_address}`, takes: isEmail },
}

/** Why a value is not one of a definition: a code, and what the definition accepts. Null if it is one. */
export function reasonAgainst(
  definition: Judged,
  value: unknown,
): { code: FieldCode; accepts: string } | null {
  const { json, accepts, code = 'invalid_format', takes } = rules[definition.type]
  const is_typed = typeof value === json
  if (is_typed && (takes?.(value as string, definition) ?? true)) return null
  return {
    code: is_typed ? code : 'invalid_type',
    accepts: typeof accepts === 'string' ? accepts : accepts(definition),
  }
}

const isBlank = (value: unknown): boolean => typeof value === 'string' && value.trim() === ''

/** The value of a key of custom fields; undefined without one. */
export const customValue = (values: CustomFields, key: string): CustomFields[string] | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined

/** The definitions whose value differs between two states of a record's custom fields. */
export const changedDefinitions = <D extends ValuedBy>(
  definitions: readonly D[],
  before: CustomFields,
  after: CustomFields,
): D[] =>
  definitions.filter(({ key }) => !isDeepStrictEqual(customValue(before, key), customValue(after, key)))

/**
 * The problems of defined values in a write. `before` is null for a new record, which must have every required value.
 * Values that the write does not change are not judged. A visitor of a booking page cannot know of required fields.
 */
export function definitionProblems(
  definitions: readonly Definition[],
  after: CustomFields,
  before: CustomFields | null,
  by_visitor = false,
): FieldProblem[] {
  const judged = before ? changedDefinitions(definitions, before, after) : definitions
  return judged.flatMap((definition) => {
    const field = `custom_fields.${definition.key}`
    const value = customValue(after, definition.key)
    if (definition.is_required && !by_visitor && (value === undefined || isBlank(value)))
      return [{ field, code: 'required', message: `${field} is required.` }]
    const reason = value === undefined ? null : reasonAgainst(definition, value)
    return reason ? [{ field, code: reason.code, message: `${field} ${reason.accepts}.` }] : []
  })
}

/** All options of a definition together, as JSON. */
const max_option_bytes = 16 * 1024

/** A select has options; other types have none. */
export function optionProblems({
  type,
  options = [],
}: {
  type?: string
  options?: readonly string[]
}): FieldProblem[] {
  const problem = (code: FieldCode, text: string) => [{ field: 'options', code, message: `options ${text}.` }]
  if (type !== 'select') return options.length ? problem('not_allowed', 'belong to the type select') : []
  if (!options.length) return problem('required', 'must have 1 to 200 texts')
  if (Buffer.byteLength(JSON.stringify(options)) > max_option_bytes)
    return problem('too_large', 'must have at most 16 KiB as JSON')
  return []
}

/** A key that a body can have, and that the filter custom_fields[key] can name. */
export function keyProblems({ key = '' }: { key?: string }): FieldProblem[] {
  if (key !== '__proto__' && !/[[\]\p{Cc}]/u.test(key)) return []
  const message = 'key must not be __proto__, and must not have brackets or control characters.'
  return [{ field: 'key', code: 'invalid_format', message }]
}
