import { instantOf, readMoment } from '../cells/days.ts'
import { readNumber } from '../cells/numbers.ts'
import { codesBy, labelled, readBoolean, readCode } from '../cells/words.ts'
import { excessOf, parseJson } from '../files/json-lines.ts'
import { splitTags } from '../files/tags.ts'
import type { ImportForm, Room } from '../resources/room.ts'
import { type Column, custom, type Defined, plain } from './columns.ts'
import type { Problem } from './errors.ts'
import type { Reading } from './evidence.ts'
import type { Source } from './mapping.ts'
import type { OwnTexts } from './own-texts.ts'

// How the cells of a field are read, by its type.

type Property = {
  type?: string | string[]
  format?: string
  maxLength?: number
  readOnly?: boolean
  enum?: unknown[]
}
/** The value of a cell, or why it has none: an error of the row, or a code that is not known. */
export type Cell = { value: unknown } | { problem: Omit<Problem, 'field'> } | 'unknown_value'
export type Form =
  | 'text'
  | 'texts'
  | 'tags'
  | 'object'
  | 'boolean'
  | 'number'
  | 'percent'
  | 'day'
  | 'time'
  | 'moment'
  | 'code'
  | 'email'
  | 'phone'
export type Reader = { form: Form; read(text: string, reading: Reading, column: Column): Cell }

/** The readers of all fields, parts and defined custom fields. */
export function readersOf(
  room: Room & { import: ImportForm },
  defined: readonly Defined[],
  source: Source,
  own: OwnTexts,
): Map<string, Reader> {
  const { import: form, batch } = room
  const readers = new Map<string, Reader>()
  const schemas = [batch?.create, batch?.update] as { properties?: Record<string, Property> }[]
  for (const { properties = {} } of schemas)
    for (const [name, property] of Object.entries(properties))
      if (!property.readOnly && !readers.has(name))
        readers.set(
          name,
          withOwn(
            readerOf(formOfField(name, property, form), property.enum, form.labels?.[name], source),
            property,
            source.is_own ? undefined : own[name],
          ),
        )
  for (const [name, kind] of Object.entries(form.parts ?? {}))
    readers.set(
      name,
      readerOf(kind, Object.keys(form.labels?.[name] ?? {}), form.labels?.[name], source, true),
    )
  for (const { key, type, options } of defined)
    readers.set(custom + key, readerOf(forms[type] ?? 'text', options && [...options], undefined, source))
  return readers
}

const forms: Readonly<Record<string, Form>> = {
  number: 'number',
  boolean: 'boolean',
  date: 'day',
  select: 'code',
  email: 'email',
}

function formOfField(name: string, { type, format, enum: codes }: Property, form: ImportForm): Form {
  const types = [type].flat()
  if (types.includes('array')) return 'tags'
  if (types.includes('object')) return 'object'
  if (types.includes('boolean')) return 'boolean'
  if (types.includes('number') || types.includes('integer'))
    return form.percent?.includes(name) ? 'percent' : 'number'
  if (format === 'day') return 'day'
  if (format === 'date-time') return 'time'
  if (codes) return 'code'
  if (name === 'email') return 'email'
  return name === 'phone' || name === 'mobile' ? 'phone' : 'text'
}

/** Reads the workspace's own texts first. A column that only may be the field gives it nothing that it does not take. */
function withOwn(
  reader: Reader,
  { enum: codes = [], maxLength = Number.POSITIVE_INFINITY }: Property,
  own: OwnTexts[string] | undefined,
): Reader {
  return {
    form: reader.form,
    read(text, reading, column) {
      const value = codes.includes(text) ? undefined : own?.(text)
      if (value !== undefined) return { value }
      if (column.is_likely && (text.includes('\0') || [...text.trim()].length > maxLength))
        return 'unknown_value'
      return reader.read(text, reading, column)
    },
  }
}

// A text that cannot be read stays as it is. Then the schema refuses it with its field.
function readerOf(
  form: Form,
  codes: readonly unknown[] | undefined,
  labels: Readonly<Record<string, readonly string[]>> | undefined,
  { is_own, program, time_zone }: Source,
  is_part = false,
): Reader {
  const plainly = (value: unknown): Cell => ({ value })
  if (form === 'tags')
    return {
      form,
      read: (text, _, { header }) =>
        plainly(
          is_own || (plain(header) === 'tags' && !text.includes(' ::: '))
            ? splitTags(text)
            : splitLabels(text),
        ),
    }
  if (form === 'object') return { form, read: (text) => plainly(parseObject(text)) }
  // The schema refuses an unknown value of a field. A part has none, and a program's own codes are not ours.
  const known = (value: unknown, text: string): Cell =>
    value !== null
      ? plainly(value)
      : is_part || (program && form === 'code')
        ? 'unknown_value'
        : plainly(text)
  const words_of = codesBy(['yes', 'no'], labels)
  if (form === 'boolean')
    return {
      form,
      read(text, _, { form: how }) {
        const word = labelled(how?.values, text) ?? readCode(text, words_of, ['yes', 'no']) ?? text
        return known(readBoolean(word), text)
      },
    }
  if (form === 'number' || form === 'percent')
    return { form, read: (text, { decimal }, column) => numberIn(text, is_own ? '.' : decimal, form, column) }
  if (form === 'day' || form === 'time' || form === 'moment')
    return {
      form,
      read(text, { order }) {
        const moment = readMoment(text, order)
        if (moment === null) return form === 'moment' ? { problem: no_moment(text) } : plainly(text)
        if ('two' in moment) return { problem: twoReadings(text, moment.two) }
        return plainly(
          form === 'day' ? moment.day : form === 'moment' ? moment : instantOf(moment, time_zone),
        )
      },
    }
  if (form === 'code') {
    const all = (codes ?? []).filter((code): code is string => typeof code === 'string')
    const by = codesBy(all, labels)
    return {
      form,
      read(text, _, { form: how }) {
        return known(labelled(how?.values, text) ?? (is_own ? text : readCode(text, by, all)), text)
      },
    }
  }
  return { form, read: plainly }
}

function numberIn(
  text: string,
  decimal: Reading['decimal'],
  form: 'number' | 'percent',
  { form: how }: Column,
): Cell {
  const read = readNumber(text, decimal)
  if (read === null) return { value: text }
  if (read === 'two') return { problem: twoNumbers(text) }
  if (read.percent && form === 'number') return { value: text }
  if (form === 'number' || read.percent || !how?.fraction) return { value: read.value }
  return { value: Number((read.value * 100).toFixed(6)) }
}

const shownText = (text: string) => text.slice(0, 100)
function twoNumbers(text: string): Omit<Problem, 'field'> {
  const [with_dot, with_comma] = (['.', ','] as const).map((decimal) => {
    const read = readNumber(text, decimal)
    return read === null || read === 'two' ? '' : String(read.value)
  })
  return twoReadings(text, [with_dot as string, with_comma as string])
}
const twoReadings = (text: string, [one, other]: readonly [string, string]): Omit<Problem, 'field'> => ({
  code: 'two_readings',
  message: `"${shownText(text)}" can be ${one} or ${other}, and no other cell of the column decides it. Write ${one} or ${other}.`,
})
const no_moment = (text: string): Omit<Problem, 'field'> => ({
  code: 'invalid_format',
  message: `"${shownText(text)}" is not a day. Write it as 2026-12-31.`,
})

/** The labels of a cell of another program, such as `* friends ::: * myContacts` of Google. */
const splitLabels = (cell: string): string[] =>
  cell
    .split(/ ::: |[;,]/)
    .map((label) => label.trim().replace(/^\* /, ''))
    .filter(Boolean)

function parseObject(text: string): unknown {
  try {
    return excessOf(text) ? text : parseJson(text)
  } catch {
    return text
  }
}
