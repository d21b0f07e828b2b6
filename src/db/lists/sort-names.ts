import { normaliseText } from './search.ts'

// An index entry of PostgreSQL has room for it in any script.
const most_characters = 100

/**
 * The text by which a record is sorted by name: without case and accents, part by part, the first hundred characters of
 * each. No character of a name comes before the line break that ends a part.
 */
export const sortName = (...parts: string[]): string =>
  parts.map((part) => normaliseText(part).slice(0, most_characters).toWellFormed()).join('\n')
