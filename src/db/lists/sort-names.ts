import { normaliseText } from './normalise.ts'
import { sameText } from './same-text.ts'

// This length fits into an index entry of PostgreSQL in any script.
const max_characters = 100

/**
 * The text for sorting by name: each part without case and accents, cut to 100 characters. Names that are the same have the
 * same text. A line break separates the parts, because it sorts before every character of a name.
 */
export const sortName = (...parts: string[]): string =>
  parts.map((part) => normaliseText(sameText(part)).slice(0, max_characters).toWellFormed()).join('\n')
