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

/** The same number, however its digits are grouped. */
function numberPattern(number: string): string {
  const digits = number.replaceAll(/\D/g, '')
  if (digits.length < 5) return whole(literal(number.trim()), number)
  return String.raw`(?<!\d)(?:\+\s*|00\s*)?${[...digits].join(String.raw`[\s().\/-]*`)}(?!\d)`
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

// Which fields are a person's own words, and how long they may be (contract: free texts).
const free_texts: Record<string, number> = {
  ...{ name: 255, subject: 255, title: 255, body: 65_535, notes: 65_535, outcome: 255, location: 255 },
  ...{ cancel_reason: 255, lost_reason: 255, source: 255 },
}

type Fields = Record<string, unknown>

/** The free texts of a record's fields that mention the person, as they are without it; empty when none does. */
export function redactedTexts(fields: Fields, redact: (text: string) => string): Record<string, string> {
  const changed: Record<string, string> = {}
  for (const [name, limit] of Object.entries(free_texts)) {
    const text = fields[name]
    if (typeof text !== 'string') continue
    const without = redact(text)
    if (without !== text) changed[name] = without.slice(0, limit).toWellFormed()
  }
  return changed
}

/** How what refers to an erased contact is told from now on. */
export type Erasure = {
  contact_id: number
  redact: (text: string) => string
  /** Whether a visitor wrote the notes of this record (an appointment). */
  by_visitor: boolean
}

/** Fields of a record that refers to the person, as JSON keeps them, without the person. */
export function redactedFields(fields: Fields, { contact_id, redact, by_visitor }: Erasure): Fields {
  const without: Fields = { ...fields, ...redactedTexts(fields, redact) }
  if ((fields.contact as { id?: unknown } | null | undefined)?.id === contact_id) without.contact = null
  if (by_visitor && fields.notes !== undefined) without.notes = null
  return without
}

/** A payload whose record was erased: which record it was, and nothing of it. Done again, it stays the same. */
export function erasedPayload(payload: string, now: string): string {
  const { id, event, timestamp, data, erased_at = now } = JSON.parse(payload) as Fields & { data: Fields }
  const nothing = Object.fromEntries(Object.keys(data).map((name) => [name, null]))
  return JSON.stringify({ id, event, timestamp, data: { ...nothing, id: data.id }, erased_at })
}

/** A payload of a record that refers to the person; the same text when it does not mention the person. */
export function redactedPayload(payload: string, now: string, erasure: Erasure): string {
  const content = JSON.parse(payload) as Fields & { data: Fields; previous?: Fields }
  const sides = {
    data: redactedFields(content.data, erasure),
    ...(content.previous && { previous: redactedFields(content.previous, erasure) }),
  }
  const changed = JSON.stringify({ ...content, ...sides })
  return changed === payload ? payload : JSON.stringify({ ...content, ...sides, erased_at: now })
}
