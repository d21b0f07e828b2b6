// A string (maybe a key), a literal, or a number.
const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
// Above this size, highlighting costs more than it helps.
const most_signs = 50_000

/** Indented JSON; null if the text is not JSON. */
export function prettyOf(text: string): string | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : null
  } catch {
    return null
  }
}

function kindOf(found: string, string: string | undefined, colon: string | undefined): string {
  if (string !== undefined) return colon === undefined ? 'json-text' : 'json-key'
  return /^[tfn]/.test(found) ? 'json-literal' : 'json-number'
}

/** JSON with highlighting. */
export function Json({ text }: { text: string }) {
  if (text.length > most_signs) return text
  const parts: React.ReactNode[] = []
  let at = 0
  for (const match of text.matchAll(token)) {
    const [found, string, colon] = match
    parts.push(text.slice(at, match.index))
    parts.push(
      <span key={match.index} className={kindOf(found, string, colon)}>
        {string ?? found}
      </span>,
      colon ?? '',
    )
    at = match.index + found.length
  }
  parts.push(text.slice(at))
  return parts
}
