import { isDeepStrictEqual } from 'node:util'
import { longestText, referrersOf } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'

/** What a person is known by, of now and of before. */
export type Person = {
  first_name: string | null
  last_name: string | null
  email: string | null
  phone: string | null
  mobile: string | null
}

/** Stands in a text where a person was named. */
export const erased = '[erased]'

// In these scripts words are written without a space between them: there, a name is found anywhere.
const unspaced = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const joined = new RegExp(`^[${unspaced}]|[${unspaced}]$`, 'u')
const whole = (pattern: string, text: string) =>
  joined.test(text) ? pattern : String.raw`(?<![\p{L}\p{M}\p{N}])${pattern}(?![\p{L}\p{M}\p{N}])`

// A letter with its accents may be stored as one character or as several.
const literal = (text: string) =>
  [...new Set([text.normalize('NFC'), text.normalize('NFD')])]
    .map((form) => form.split(/\s+/u).map(RegExp.escape).join(String.raw`\s+`))
    .join('|')

function namePatterns({ first_name, last_name }: Person): string[] {
  const names = [first_name, last_name].flatMap((name) => name?.trim() || [])
  const parts = names.map((name) => `(?:${literal(name)})`)
  const [first, last] = parts
  const full = first && last ? [[first, last], parts.toReversed()] : []
  return [
    ...full.map((both) => whole(both.join(String.raw`[\s,]*`), names.join(''))),
    // One letter by itself is no name that anybody could be known by, and stands in every text.
    ...names.filter((name) => [...name].length > 1).map((name) => whole(`(?:${literal(name)})`, name)),
  ]
}

// What stands between digits: also dashes and spaces of other alphabets, and marks that nobody sees.
const between = String.raw`[\s\p{Pd}\u2212\p{Cf}().\/\u2044\u00b7]*`
const grouped = (signs: string) =>
  String.raw`(?<!\d)(?:(?:\+|00)${between})?${[...signs].join(between)}(?!\d)`

/** The same number, however its digits are grouped; with letters in it, such as an extension, with them or without. */
function numberPattern(number: string): string {
  const typed = whole(`(?:${literal(number.trim())})`, number)
  const digits = (text: string) => text.replaceAll(/\D/g, '')
  if (digits(number).length < 5) return typed
  const runs = number.split(/\p{L}+/u).map(digits)
  const signs = number.replaceAll(/[^\p{L}\d]/gu, '')
  // In this order: with all that belongs to it first.
  return `(?:${[typed, ...[signs, ...runs.filter((run) => run.length >= 5)].map(grouped)].join('|')})`
}

/**
 * A function that puts `[erased]` in place of every mention of a person: the full name, first and last name as whole
 * words, e-mail and numbers; without regard to case. A text without a mention is returned as it is.
 */
export function redactorOf(persons: readonly Person[]): (text: string) => string {
  const present = (values: (string | null)[]) => values.filter((value): value is string => !!value?.trim())
  const patterns = [
    ...present(persons.map(({ email }) => email)).map((email) => whole(`(?:${literal(email)})`, email)),
    ...present(persons.flatMap(({ phone, mobile }) => [phone, mobile])).map(numberPattern),
    ...persons.flatMap(namePatterns),
  ]
  // The longest first: a full name is one mention, not two.
  const distinct = [...new Set(patterns)].sort((a, b) => b.length - a.length)
  if (!distinct.length) return (text) => text
  const mention = new RegExp(distinct.join('|'), 'giu')
  return (text) => text.replaceAll(mention, erased)
}

/** The table of the records that are persons. */
export const persons_table = 'contacts'

/** The resources whose records may be about a person: they refer to one. */
export const linkedResources = (resources: readonly Resource[]): Resource[] => [
  ...new Set(referrersOf(resources, persons_table).map(({ resource }) => resource)),
]

type Fields = Record<string, unknown>

/** How what refers to an erased contact is told from now on. */
export type Erasure = {
  contact_id: number
  redact: (text: string) => string
}
/** What is told: a record of which resource, and whether a visitor booked it. */
export type About = { resource: Resource; by_visitor: boolean }

/** The personal fields of a record that tell of the person, as they are without it; empty when none does. */
export function redactedTexts(
  fields: Fields,
  { redact }: Pick<Erasure, 'redact'>,
  { resource, by_visitor }: About,
): Fields {
  const changed: Fields = {}
  for (const [name, column] of Object.entries(resource.columns)) {
    const value = fields[name]
    if (!column.personal || value === undefined || value === null) continue
    // What a visitor typed is personal as a whole, whoever it names.
    const whole = by_visitor && column.personal === 'visitor'
    const longest = longestText(column)
    const without = whole ? null : redactedValue(value, (text) => cut(redact(text), text, longest))
    if (!isDeepStrictEqual(without, value)) changed[name] = without
  }
  return changed
}

// The mark may be longer than the name.
const cut = (text: string, before: string, longest: number | undefined) =>
  text === before ? text : text.slice(0, longest).toWellFormed()

/** A text, the tags or the custom fields without the person. */
function redactedValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return [...new Set(value.map((one) => redactedValue(one, redact)))]
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, redactedValue(one, redact)]))
}

/** Fields of a record that refers to the person, as JSON keeps them, without the person. */
export function redactedFields(fields: Fields, erasure: Erasure, about: About): Fields {
  const without: Fields = { ...fields, ...redactedTexts(fields, erasure, about) }
  for (const name of embeddingsOf(about.resource)) {
    const embedded = fields[name] as { id?: unknown } | null | undefined
    if (embedded?.id === erasure.contact_id) without[name] = null
  }
  return without
}

/** The fields that show a part of the person beside a reference. */
export const embeddingsOf = ({ columns }: Resource): string[] =>
  Object.entries(columns).flatMap(([name, { embeds }]) =>
    embeds && columns[embeds.by]?.refers_to === persons_table ? [name] : [],
  )

/** A payload whose record was erased: which record it was, and nothing of it. Done again, it stays the same. */
export function erasedPayload(payload: string, now: string): string {
  const { id, event, timestamp, data, erased_at = now } = JSON.parse(payload) as Fields & { data: Fields }
  const nothing = Object.fromEntries(Object.keys(data).map((name) => [name, null]))
  return JSON.stringify({ id, event, timestamp, data: { ...nothing, id: data.id }, erased_at })
}

/** A payload of a record that refers to the person; the same text when it does not mention the person. */
export function redactedPayload(payload: string, now: string, erasure: Erasure, about: About): string {
  const content = JSON.parse(payload) as Fields & { data: Fields; previous?: Fields }
  const sides = {
    data: redactedFields(content.data, erasure, about),
    ...(content.previous && { previous: redactedFields(content.previous, erasure, about) }),
  }
  const changed = JSON.stringify({ ...content, ...sides })
  return changed === payload ? payload : JSON.stringify({ ...content, ...sides, erased_at: now })
}
