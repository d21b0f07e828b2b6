import { findCustomSorting } from '../db/lists/orders.ts'
import type { FieldCode, FieldProblem } from '../errors.ts'
import { formats, isDay, isInstant } from './formats.ts'
import { isRelative } from './relative-days.ts'

// The values of a filter as a client writes them: several values by comma, `!` before a value for "not", null, and a
// backslash before a comma, an exclamation mark or a `null` that belongs to the value (docs/lists.md, Filter).

export type FilterKind = 'id' | 'member' | 'code' | 'text' | 'email' | 'number' | 'integer' | 'day' | 'time'

/** The values that a filter accepts: one of `any`, or no value (`or_none`), but none of `not`. `some` requires a value. */
export type Wanted<Value = string | number> = { any: Value[]; or_none: boolean; not: Value[]; some: boolean }

/** A filter has at most this many values. */
export const max_values = 100

type Part = { text: string; negated: boolean }

/** Splits a filter's text at its commas. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [{ text: '', negated: false }]
  for (let at = 0; at < text.length; at++) {
    const part = parts.at(-1) as Part
    const [letter = '', next] = [text[at], text[at + 1]]
    if (letter === '\\' && (next === ',' || next === '!')) part.text += text[++at]
    else if (letter === ',') parts.push({ text: '', negated: false })
    else if (letter === '!' && !part.negated && part.text.trim() === '') part.negated = true
    else part.text += letter
  }
  return parts
}

type End = 'from' | 'to'
type Reader = (text: string, end?: End) => string | number | { code: FieldCode; text: string }

// Longer numbers do not fit into the columns, which PostgreSQL refuses.
const readText: Reader = (text) =>
  text || {
    code: 'required',
    text: 'must not be empty: write null for records without a value, or leave the parameter out',
  }
const readers: Record<Exclude<FilterKind, 'code'>, Reader> = {
  id(text) {
    if (!/^-?\d+$/.test(text)) return { code: 'invalid_type', text: 'must be an integer' }
    const id = Number(text)
    return id >= 1 && Number.isSafeInteger(id) ? id : { code: 'out_of_range', text: 'must be an id' }
  },
  member: (text) => text || { code: 'required', text: 'must be the id of a member, or me' },
  text: readText,
  // A + in a query is a blank.
  email: (text) =>
    /\s/.test(text)
      ? { code: 'invalid_format', text: 'must have no blank: write %2B for + in the query' }
      : readText(text),
  number(text) {
    return /^-?\d{1,11}(\.\d{1,4})?$/.test(text)
      ? Number(text)
      : {
          code: 'invalid_type',
          text: 'must be a number, such as 12500.5, with at most 11 digits and 4 decimals',
        }
  },
  integer(text) {
    return /^-?\d{1,9}$/.test(text)
      ? Number(text)
      : { code: 'invalid_type', text: 'must be an integer of at most 9 digits, such as 50' }
  },
  day: (text) => (isDay(text) ? text : { code: 'invalid_format', text: `must be ${formats.day}` }),
  time(text, end) {
    if (end && isDay(text)) return text + (end === 'from' ? 'T00:00:00.000Z' : 'T23:59:59.999Z')
    if (!isInstant(text)) {
      const or_day = end ? `, or ${formats.day}` : ''
      return { code: 'invalid_format', text: `must be ${formats['date-time']}${or_day}` }
    }
    const time = new Date(text).toISOString()
    return /^(?!0000)\d/.test(time)
      ? time
      : { code: 'out_of_range', text: 'must be in the years 1 to 9999, in UTC' }
  },
}

/** How the text of a query parameter is read. */
export type Parameter = {
  name: string
  kind: FilterKind
  choices?: readonly string[]
  nullable: boolean
  /** The meaning of an empty text. Without this property, an empty text is malformed. */
  empty?: 'anything' | 'empty value'
  /** It takes words such as `this_month`; `due`: `overdue`, too. */
  relative?: true | 'due'
  /** The end of a range. A day is a time then: its start or its end. */
  end?: End
}

/**
 * In the schema of a query parameter: how its text is read. The validator reports its problems with all others. A symbol,
 * because the API's documentation must not show it.
 */
export const filter_of = Symbol('filter')
/** The same for the end of a range, which is one value. */
export const end_of = Symbol('end')

/** In the schema of `sort`: the orders, beside those by defined custom fields. */
export const orders_of = Symbol('orders')

function sortProblem(name: string, text: string, orders: readonly string[]): FieldProblem | null {
  if (orders.includes(text) || findCustomSorting(text)) return null
  const message = `${name} must be one of ${orders.join(', ')}, or custom_fields.KEY of a defined field.`
  return { field: name, code: 'unknown_value', message }
}

/** The problems of the filters and the order of a query, by their schemas. */
export function filterProblems(
  properties: Record<string, object>,
  query: Record<string, unknown>,
): FieldProblem[] {
  return Object.entries(query).flatMap(([name, text]) => {
    if (typeof text !== 'string' || !Object.hasOwn(properties, name)) return []
    const {
      [filter_of]: filter,
      [end_of]: end,
      [orders_of]: orders,
    } = properties[name] as { [filter_of]?: Parameter; [end_of]?: Parameter; [orders_of]?: readonly string[] }
    const problem = orders && sortProblem(name, text, orders)
    if (problem) return [problem]
    const read = filter ? readWanted(filter, text) : end ? readValue(end, text.trim()) : null
    return read && 'code' in read ? [read] : []
  })
}

/** One value of a filter, or the problem with it. */
export function readValue(
  { name, kind, choices = [], nullable, empty, relative, end }: Parameter,
  text: string,
): { value: string | number } | FieldProblem {
  if (kind === 'code')
    return choices.includes(text)
      ? { value: text }
      : { field: name, code: 'unknown_value', message: `${name} must be one of ${choices.join(', ')}.` }
  if (text === '' && empty === 'empty value') return { value: text }
  if (text === '' && kind === 'text' && !nullable)
    return { field: name, code: 'required', message: `${name} must not be empty: leave the parameter out.` }
  const takes_words = relative !== undefined && !end
  if (takes_words && isRelative(text) && (text !== 'overdue' || relative === 'due')) return { value: text }
  const value = readers[kind](text, end)
  const or_word = takes_words ? ', or a word such as this_month' : ''
  return typeof value === 'object'
    ? { field: name, code: value.code, message: `${name} ${value.text}${or_word}.` }
    : { value }
}

/** The text `null` as a value. A text of backslashes before `null` has one more of them, too. */
const escaped_null = /^\\(\\*null)$/

/** Reads the text of a filter. Returns the accepted values, null for no restriction, or the problem with the text. */
export function readWanted(parameter: Parameter, text: string): Wanted | FieldProblem | null {
  const { name, kind, nullable, empty } = parameter
  if (empty === 'anything' && text.trim() === '') return null
  const parts = partsOf(text)
  if (parts.length > max_values)
    return { field: name, code: 'too_many', message: `${name} must have at most ${max_values} values.` }
  const wanted: Wanted = { any: [], or_none: false, not: [], some: false }
  for (const { text: written, negated } of parts) {
    // Blanks around an id were always refused.
    const text = kind === 'id' ? written : written.trim()
    if (nullable && text === 'null') {
      if (negated) wanted.some = true
      else wanted.or_none = true
      continue
    }
    const read = readValue(parameter, text.replace(escaped_null, '$1'))
    if ('code' in read) return read
    wanted[negated ? 'not' : 'any'].push(read.value)
  }
  return wanted
}
