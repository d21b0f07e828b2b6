// The name of a person in one cell, such as `Ana Ruiz`, `Ruiz, Ana` or `Dr. Ludwig van Beethoven Jr.`.

const before = new Set([
  'mr',
  'mrs',
  'ms',
  'miss',
  'dr',
  'prof',
  'herr',
  'frau',
  'hr',
  'fr',
  'sr',
  'sra',
  'don',
  'mme',
  'm',
  'ing',
  'mag',
])
const after = new Set([
  ...['jr', 'sr', 'ii', 'iii', 'iv', 'phd', 'md', 'esq', 'mba', 'cpa', 'dds', 'jd'],
  ...['bsc', 'msc', 'mph', 'llb', 'llm', 'edd', 'cfa', 'cfp', 'pmp'],
])
const particles = new Set([
  'van',
  'von',
  'zu',
  'der',
  'den',
  'de',
  'del',
  'della',
  'di',
  'da',
  'dos',
  'du',
  'la',
  'le',
  'los',
  'las',
  'ter',
  'ten',
  'bin',
  'ibn',
  'al',
  'el',
])

const bare = (word: string) => word.toLowerCase().replaceAll(/[.,]/g, '')

/** The words of a name. A comma belongs to the word before it, with and without blanks. */
function wordsOf(name: string): string[] {
  const words: string[] = []
  // No expression with several runs of blanks: it would take minutes for a long cell of blanks.
  for (const word of name.replaceAll(',', ', ').split(/\s+/).filter(Boolean)) {
    if (word !== ',') words.push(word)
    else if (words.length && !words.at(-1)?.endsWith(',')) words.push(`${words.pop()},`)
  }
  return words
}

/** The first and the last name of a person. A name of one word is a first name. */
export function splitName(name: string): { first: string; last: string | null } {
  const words = wordsOf(name)
  const isSuffix = (word: string | undefined) => word !== undefined && after.has(bare(word))
  const comma = words.findIndex(
    (word, n) => word.endsWith(',') && n + 1 < words.length && !isSuffix(words[n + 1]),
  )
  if (comma >= 0) {
    // `Smith, Jr., John` and `Smith, John, Jr.`
    let end = words.length
    while (end > comma + 2 && isSuffix(words[end - 1])) end--
    const withoutComma = (name: string[]) => name.join(' ').replace(/,$/, '')
    const family = [withoutComma(words.slice(0, comma + 1)), ...words.slice(end)]
    return { first: withoutComma(words.slice(comma + 1, end)), last: family.join(' ') }
  }
  let end = words.length
  // A suffix belongs to the last name, which it does not replace.
  while (end > 2 && isSuffix(words[end - 1])) end--
  if (end < 2) return { first: words.join(' ') || name, last: null }
  let start = end - 1
  const first_word = before.has(bare(words[0] as string)) && end > 2 ? 2 : 1
  while (start > first_word && particles.has(words[start - 1] as string)) start--
  return { first: words.slice(0, start).join(' '), last: words.slice(start).join(' ') }
}
