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

/** The kinds of records that may be about a contact. */
export const linked_kinds = ['deals', 'activities', 'appointments'] as const
export type LinkedKind = (typeof linked_kinds)[number]

// Which fields are a person's own words, and how long they may be (contract: free texts).
const free_texts: Record<LinkedKind, Record<string, number>> = {
  deals: { name: 255, source: 255, priority: 64, lost_reason: 255 },
  activities: { subject: 255, body: 65_535, outcome: 255 },
  appointments: { title: 255, type: 64, location: 255, notes: 65_535, cancel_reason: 255 },
}
// What a visitor typed is personal as a whole, whoever it names.
const visitor_texts = ['notes', 'cancel_reason']

type Fields = Record<string, unknown>

/** How what refers to an erased contact is told from now on. */
export type Erasure = {
  contact_id: number
  redact: (text: string) => string
}
/** What is told: a record of which kind, and whether a visitor booked it (an appointment). */
export type About = { kind: LinkedKind; by_visitor: boolean }

/** The texts of a record's fields that tell of the person, as they are without it; empty when none does. */
export function redactedTexts(
  fields: Fields,
  { redact }: Pick<Erasure, 'redact'>,
  { kind, by_visitor }: About,
): Record<string, string | null> {
  const changed: Record<string, string | null> = {}
  for (const [name, limit] of Object.entries(free_texts[kind])) {
    const text = fields[name]
    if (typeof text !== 'string') continue
    const whole = by_visitor && visitor_texts.includes(name)
    const without = whole ? null : redact(text)
    if (without !== text) changed[name] = without?.slice(0, limit).toWellFormed() ?? null
  }
  return changed
}

/** Fields of a record that refers to the person, as JSON keeps them, without the person. */
export function redactedFields(fields: Fields, erasure: Erasure, about: About): Fields {
  const without: Fields = { ...fields, ...redactedTexts(fields, erasure, about) }
  const { contact } = fields as { contact?: { id?: unknown } | null }
  if (contact?.id === erasure.contact_id) without.contact = null
  return without
}

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
