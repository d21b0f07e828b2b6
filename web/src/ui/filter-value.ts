/** What a filter of several values says: one of them, none of them, no value, or any value. */
export type FilterValue = { op: FilterOp; values: string[] }
export const filter_ops = ['is', 'not', 'empty', 'filled'] as const
export type FilterOp = (typeof filter_ops)[number]

/** Parses the value of a filter as the API writes it: `lead,won`, `!lost`, `null`, `!null`. */
export function readFilter(text: string): FilterValue {
  if (text === 'null') return { op: 'empty', values: [] }
  if (text === '!null') return { op: 'filled', values: [] }
  // A comma after a backslash is part of a value.
  const parts = text.split(/(?<!\\),/).filter(Boolean)
  const op = parts.length > 0 && parts.every((part) => part.startsWith('!')) ? 'not' : 'is'
  const plain = (part: string) => (op === 'not' ? part.slice(1) : part).replace(/\\([,!])/g, '$1')
  return { op, values: parts.map(plain).filter(Boolean) }
}

/** Writes the value of a filter for the API; null if it says nothing yet. */
export function writeFilter({ op, values }: FilterValue): string | null {
  if (op === 'empty') return 'null'
  if (op === 'filled') return '!null'
  const written = values.map((value) => value.replaceAll(',', '\\,').replace(/^!/, '\\!'))
  return written.map((value) => (op === 'not' ? `!${value}` : value)).join(',') || null
}
