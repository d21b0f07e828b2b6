import { distinctTexts, withoutUnseen } from '../db/lists/same-text.ts'
import { type FieldProblem, max_problems } from '../errors.ts'

export type Body = Record<string, unknown>

const nul = /\0/

// Shorten names in messages: a body may have one long name and thousands of bad texts.
const max_part = 130

/** The field name of a path, such as custom_fields.region; `body` for the whole body. */
export const fieldName = (path: readonly string[]): string =>
  path
    .map((part) => part.slice(0, max_part))
    .join('.')
    .toWellFormed()
    .replaceAll('\0', '') || 'body'

// A linked path: most texts have no problem, so only problems build a name.
type PathNode = { name: string; parent: PathNode | null }
function pathOf(last: PathNode | null): string[] {
  const path: string[] = []
  for (let node = last; node; node = node.parent) path.unshift(node.name)
  return path
}

/** Finds NUL and lone surrogates in all strings of a parsed value. At most 1,000 problems. */
export function textProblems(value: unknown): FieldProblem[] {
  const problems: FieldProblem[] = []
  const check = (text: string, node: PathNode | null) => {
    if (!nul.test(text) && text.isWellFormed()) return
    const field = fieldName(pathOf(node))
    problems.push({
      field,
      code: 'invalid_characters',
      message: `${field} has a NUL or an incomplete character.`,
    })
  }
  const walk = (part: unknown, node: PathNode | null) => {
    if (typeof part === 'string') return check(part, node)
    if (typeof part !== 'object' || part === null) return
    for (const name of Object.keys(part)) {
      if (problems.length === max_problems) return
      const child = { name, parent: node }
      if (!Array.isArray(part)) check(name, child)
      walk((part as Record<string, unknown>)[name], child)
    }
  }
  walk(value, null)
  return problems
}

/**
 * In the schema of a text: characters that nobody sees are taken off. A copied number or address often has some. A symbol,
 * because the API's documentation must not show it.
 */
export const all_seen = Symbol('all seen')

type Property = [
  name: string,
  schema: { type?: unknown; minLength?: number; items?: unknown; verbatim?: boolean; [all_seen]?: boolean },
]

// Longer than any valid list, even with duplicates. The schema refuses longer lists.
const max_folded = 1000

/**
 * Trims texts in place. "" becomes null, which clears an optional text (contract: reading and writing). Of the same texts in
 * a list, keeps the first.
 */
export function tidyTexts(body: Body, properties: readonly Property[]): void {
  if (typeof body !== 'object' || Array.isArray(body)) return
  for (const [name, schema] of properties) {
    const value = body[name]
    if (schema.verbatim) continue
    if (typeof value === 'string' && [schema.type].flat().includes('string'))
      body[name] = (schema[all_seen] ? withoutUnseen(value) : value).trim() || null
    if (Array.isArray(value) && schema.items && value.length <= max_folded) body[name] = distinctItems(value)
  }
}

function distinctItems(items: readonly unknown[]): unknown[] {
  const trimmed = items.map((item) => (typeof item === 'string' ? item.trim() : item))
  return trimmed.every((item) => typeof item === 'string') ? distinctTexts(trimmed) : [...new Set(trimmed)]
}
