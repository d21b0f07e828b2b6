import { Type } from 'typebox'
import { type FilterKind, filter_of, type Parameter, readWanted, type Wanted } from './filter-values.ts'
import { relative_words } from './relative-days.ts'

// The schemas of filters in queries, and what the validated texts of some of them mean.

const forms: Record<FilterKind, string> = {
  id: 'The id',
  member: 'The id of a member, or `me`',
  code: 'The code',
  text: 'The text',
  email: 'The address, with `%2B` for `+`',
  number: 'The number',
  integer: 'The number',
  day: 'The day',
  time: 'The time',
}

/** The schema of a filter: one value or several. */
export function valuesFilter(parameter: Parameter, about?: string) {
  const { kind, choices, nullable, relative } = parameter
  const sentences = [
    about,
    `${forms[kind]}, or several with commas between them. \`!\` before a value means "not".`,
    choices && `The codes: ${choices.join(', ')}.`,
    relative && `Or a word: ${relative_words}${relative === 'due' ? '; `overdue`' : ''}.`,
    nullable && '`null`: without a value; `!null`: with one.',
  ]
  const type = kind === 'id' ? ['string', 'integer'] : 'string'
  const description = sentences.filter(Boolean).join(' ')
  return Type.Optional(
    Type.Unsafe<string>({ type, maxLength: 4000, description, 'x-filter': true, [filter_of]: parameter }),
  )
}

const codesOf = <Code extends string>(name: string, choices: readonly Code[]) =>
  ({ name, kind: 'code', choices, nullable: false }) as const

/** The schema of a filter by codes, for a list whose filters do not follow from columns. */
export const codesFilter = (name: string, choices: readonly string[]) => valuesFilter(codesOf(name, choices))

/** The codes that such a filter accepts; undefined without the filter. */
export function acceptedCodes<Code extends string>(
  name: string,
  choices: readonly Code[],
  text: string | undefined,
): Code[] | undefined {
  const wanted = text === undefined ? null : readWanted(codesOf(name, choices), text)
  if (!wanted || 'code' in wanted) return undefined
  const { any, not } = wanted
  return choices.filter((code) => (!any.length || any.includes(code)) && !not.includes(code))
}

/** The schema of a filter by ids, for a list whose filters do not follow from columns. */
export const idsFilter = (name: string, about?: string) =>
  valuesFilter({ name, kind: 'id', nullable: false }, about)

/** The ids that such a filter names; undefined without the filter. */
export const wantedIds = (name: string, text: string | undefined): Wanted<number> | undefined =>
  wantedIntegers({ name, kind: 'id', nullable: false }, text)

function wantedIntegers(parameter: Parameter, text: string | undefined): Wanted<number> | undefined {
  const wanted = text === undefined ? null : readWanted(parameter, text)
  if (!wanted || 'code' in wanted) return undefined
  return { ...wanted, any: [...new Set(wanted.any.map(Number))], not: wanted.not.map(Number) }
}

/** The schema of a filter by integers, for a list whose filters do not follow from columns. */
export const numbersFilter = (name: string, about?: string) =>
  valuesFilter({ name, kind: 'integer', nullable: false }, about)

/** The integers that such a filter names; undefined without the filter. */
export const wantedNumbers = (name: string, text: string | undefined): Wanted<number> | undefined =>
  wantedIntegers({ name, kind: 'integer', nullable: false }, text)

type OfTexts = { about?: string; nullable?: boolean }

/** The schema of a filter by texts that are not listed anywhere, such as ids. */
export const textsFilter = (name: string, { about, nullable = false }: OfTexts = {}) =>
  valuesFilter({ name, kind: 'text', nullable }, about)

/** The texts that such a filter names; undefined without the filter. */
export function wantedTexts(
  name: string,
  text: string | undefined,
  { nullable = false }: OfTexts = {},
): Wanted<string> | undefined {
  const wanted = text === undefined ? null : readWanted({ name, kind: 'text', nullable }, text)
  if (!wanted || 'code' in wanted) return undefined
  return { ...wanted, any: [...new Set(wanted.any.map(String))], not: wanted.not.map(String) }
}
