import { type FieldProblem, max_problems } from './errors.ts'

export type Body = Record<string, unknown>

const nul = /\0/

// Shorten names in messages: a body may have one long name and thousands of bad texts.
const max_part = 130

/** A path as a problem names it: custom_fields.region; `body` for the whole. */
export const fieldName = (path: readonly string[]): string =>
  path
    .map((part) => part.slice(0, max_part))
    .join('.')
    .toWellFormed()
    .replaceAll('\0', '') || 'body'

// Paths are put together for problems only: most texts have none.
type Place = { name: string; above: Place | null }
function pathOf(place: Place | null): string[] {
  const path: string[] = []
  for (let at = place; at; at = at.above) path.unshift(at.name)
  return path
}

/** Problems of strings anywhere in a parsed value: NUL and lone surrogates. As many as an answer lists. */
export function textProblems(value: unknown): FieldProblem[] {
  const problems: FieldProblem[] = []
  const check = (text: string, place: Place | null) => {
    if (!nul.test(text) && text.isWellFormed()) return
    const field = fieldName(pathOf(place))
    problems.push({
      field,
      code: 'invalid_characters',
      message: `${field} has a NUL or an incomplete character.`,
    })
  }
  const walk = (part: unknown, place: Place | null) => {
    if (typeof part === 'string') return check(part, place)
    if (typeof part !== 'object' || part === null) return
    for (const name of Object.keys(part)) {
      if (problems.length === max_problems) return
      const below = { name, above: place }
      if (!Array.isArray(part)) check(name, below)
      walk((part as Record<string, unknown>)[name], below)
    }
  }
  walk(value, null)
  return problems
}

type Property = [
  name: string,
  schema: { type?: unknown; minLength?: number; items?: unknown; verbatim?: boolean },
]

// Longer than any list may be, even with everything in it twice: the schema refuses it as it is.
const max_folded = 1000

/**
 * Trims texts in place; "" becomes null, which clears an optional text (contract: reading and writing). Lists are sets:
 * what stands in one twice is kept once, in its first place.
 */
export function tidyTexts(body: Body, properties: readonly Property[]): void {
  if (typeof body !== 'object' || Array.isArray(body)) return
  for (const [name, schema] of properties) {
    const value = body[name]
    if (schema.verbatim) continue
    if (typeof value === 'string' && [schema.type].flat().includes('string'))
      body[name] = value.trim() || null
    if (Array.isArray(value) && schema.items && value.length <= max_folded)
      body[name] = [...new Set(value.map((item) => (typeof item === 'string' ? item.trim() : item)))]
  }
}
