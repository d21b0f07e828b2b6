import type { FieldProblem } from './errors.ts'

export type Body = Record<string, unknown>

const nul = /\0/

// A body can be one long name over thousands of bad texts: neither all of it nor all of them are worth telling.
const longest_part = 100
const most_told = 1000

/** Problems of strings anywhere in a parsed value: NUL and lone surrogates. At most the first thousand. */
export function textProblems(value: unknown): FieldProblem[] {
  const problems: FieldProblem[] = []
  const check = (text: string, path: string[]) => {
    if (!nul.test(text) && text.isWellFormed()) return
    const field = path.join('.').toWellFormed().replaceAll('\0', '') || 'body'
    problems.push({
      field,
      code: 'invalid_characters',
      message: `${field} has a NUL or an incomplete character.`,
    })
  }
  const walk = (part: unknown, path: string[]) => {
    if (typeof part === 'string') return check(part, path)
    if (typeof part !== 'object' || part === null) return
    for (const [name, inner] of Object.entries(part)) {
      if (problems.length === most_told) return
      const below = [...path, name.slice(0, longest_part)]
      check(name, below)
      walk(inner, below)
    }
  }
  walk(value, [])
  return problems
}

type Property = [
  name: string,
  schema: { type?: unknown; minLength?: number; items?: unknown; verbatim?: boolean },
]

/**
 * Trims texts in place; "" becomes null, which clears an optional text (contract: reading and writing). Lists are sets:
 * what stands in one twice is kept once, in its first place.
 */
export function tidyTexts(body: Body, properties: Property[]): void {
  if (typeof body !== 'object' || Array.isArray(body)) return
  for (const [name, schema] of properties) {
    const value = body[name]
    if (schema.verbatim) continue
    if (typeof value === 'string' && [schema.type].flat().includes('string'))
      body[name] = value.trim() || null
    if (Array.isArray(value) && schema.items)
      body[name] = [...new Set(value.map((item) => (typeof item === 'string' ? item.trim() : item)))]
  }
}
