import { isDay, isWall } from '../app/zones.ts'
import { readRelative } from './relative-days.ts'

// Filters as the API's own parameters: `stage=won,lost`, `stage=!lost`, `email=null`, `value_from=10`.

/** The kind of a filter's values. A `moment` is a local time, `YYYY-MM-DDTHH:MM`. */
export type FilterKind = 'choice' | 'reference' | 'text' | 'number' | 'day' | 'time' | 'moment'

/** A field that a list can be filtered by. */
export type FilterField = {
  /** The parameter of its values. */
  name: string
  /** Left out: text. */
  kind?: FilterKind
  /** The parameters of its range. The first pair is written, all are read. */
  ends?: readonly (readonly [from: string, to: string])[]
  /** Records may have no value. */
  nullable?: boolean
  /** The API takes one plain value. */
  single?: boolean
  /** It takes words such as `this_month`; `due`: `overdue`, too. */
  relative?: true | 'due'
}

/** One value of a filter, or null for no value. */
export type Part = { not: boolean; value: string | null }
/** The condition of a filter: values, or a range with at least one end. */
export type Condition = { parts: readonly Part[] } | { from: string | null; to: string | null }

type Parameters = Record<string, string | undefined>

/** Parses the values of a filter as the API does: `\,` and `\!` are plain characters, and `\null` is the text `null`. */
export function readParts(text: string): Part[] {
  const parts = [{ not: false, text: '' }]
  for (let at = 0; at < text.length; at++) {
    const part = parts.at(-1) as (typeof parts)[number]
    const [letter = '', next] = [text[at], text[at + 1]]
    if (letter === '\\' && (next === ',' || next === '!')) part.text += text[++at]
    else if (letter === ',') parts.push({ not: false, text: '' })
    else if (letter === '!' && !part.not && part.text.trim() === '') part.not = true
    else part.text += letter
  }
  return parts.flatMap(({ not, text }) => {
    const value = text.trim()
    return value ? [{ not, value: value === 'null' ? null : value.replace(/^\\(\\*null)$/, '$1') }] : []
  })
}

/** Writes the values of a filter for the API. */
export function writeParts(parts: readonly Part[]): string {
  const written = parts.map(({ not, value }) => {
    const plain =
      value
        ?.replaceAll(',', '\\,')
        .replace(/(^|\\)!/g, '$1\\!')
        .replace(/^\\*null$/, '\\$&') ?? 'null'
    return (not ? '!' : '') + plain
  })
  // A backslash at the end of a value would escape the comma after it. The API trims blanks.
  return written
    .map((part, at) => (part.endsWith('\\') && at < written.length - 1 ? `${part} ` : part))
    .join()
}

/** Whether a text from the address can be the id of a record. */
export const isId = (text: string | null | undefined): text is `${number}` =>
  /^[1-9]\d{0,14}$/.test(text ?? '')

const readable: Partial<Record<FilterKind, (text: string) => boolean>> = {
  reference: isId,
  number: (text) => /^-?\d+(\.\d+)?$/.test(text),
  day: isDay,
  time: (text) =>
    isDay(text) || (/^\d{4}-\d\d-\d\dT.+(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))),
  moment: isWall,
}

/** The conditions of a field in the address: its values, its range, or both. Invalid ones are left out. */
export function conditionsOf(field: FilterField, address: Parameters): Condition[] {
  const { name, kind = 'text', ends = [], single, relative } = field
  const valid = (text: string | undefined) => text !== undefined && (readable[kind]?.(text) ?? text !== '')
  const isWord = (text: string) =>
    relative !== undefined && readRelative(text) !== null && (text !== 'overdue' || relative === 'due')
  const text = address[name] ?? ''
  const parts = single ? (text ? [{ not: false, value: text }] : []) : readParts(text)
  const whole =
    parts.length > 0 && parts.every(({ value }) => value === null || isWord(value) || valid(value))
  const endOf = (side: 0 | 1) => ends.map((pair) => address[pair[side]]).find(valid) ?? null
  const [from, to] = [endOf(0), endOf(1)]
  return [...(whole ? [{ parts }] : []), ...(from !== null || to !== null ? [{ from, to }] : [])]
}

/** The parameters of a condition. */
export function parametersOf(field: FilterField, condition: Condition): Record<string, string> {
  const { name, ends = [], single } = field
  if ('parts' in condition) {
    const { parts } = condition
    return { [name]: single ? (parts[0]?.value ?? '') : writeParts(parts) }
  }
  const [from = '', to = ''] = ends[0] ?? []
  return {
    ...(condition.from !== null && { [from]: condition.from }),
    ...(condition.to !== null && { [to]: condition.to }),
  }
}

/** The change of the address that replaces one condition of a field by another one, or by none. */
export function changeOf(
  field: FilterField,
  before: Condition | null,
  after: Condition | null,
): Record<string, string | null> {
  const { name, ends = [] } = field
  const names = !before ? [] : 'parts' in before ? [name] : ends.flat()
  return {
    ...Object.fromEntries(names.map((one) => [one, null])),
    ...(after && parametersOf(field, after)),
  }
}

/** All parameters of a field. */
export const namesOf = ({ name, ends = [] }: FilterField): string[] => [name, ...ends.flat()]

/** The valid filters in the address, in its order. */
export function filtersIn(fields: readonly FilterField[], address: Parameters): Record<string, string> {
  const order = Object.keys(address)
  const found = fields.flatMap((field) =>
    conditionsOf(field, address).flatMap((condition) => Object.entries(parametersOf(field, condition))),
  )
  return Object.fromEntries(found.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)))
}

const custom_field = /^custom_fields\[(.{1,64})\](_from|_to)?$/su

/** The name of the filter by a custom field. */
export const customName = (key: string): string => `custom_fields[${key}]`

/** The keys of the custom fields in the address. */
export const customKeys = (address: Parameters): string[] => [
  ...new Set(Object.keys(address).flatMap((name) => custom_field.exec(name)?.[1] ?? [])),
]

/** The address without the old form of a filter by a custom field, `custom_field=KEY=value`. */
export function withoutOldForm(written: Record<string, string>): Record<string, string> {
  if (written.custom_field === undefined) return written
  const { custom_field, ...address } = written
  const [, key = '', value = ''] = /^(.{1,64}?)=(.*)$/su.exec(custom_field) ?? []
  return key.trim() && value.trim() ? { ...address, [customName(key.trim())]: value.trim() } : address
}

/** The parameters of the range of a field, such as value_from and value_to. */
export const endsOf = (...names: string[]) => names.map((name) => [`${name}_from`, `${name}_to`] as const)
