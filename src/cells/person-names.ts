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
const after = new Set(['jr', 'sr', 'ii', 'iii', 'iv', 'phd', 'md', 'esq', 'mba', 'cpa', 'dds', 'jd'])
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

/** The first and the last name of a person. A name of one word is a first name. */
export function splitName(name: string): { first: string; last: string | null } {
  // No expression with several runs of blanks: it would take minutes for a long cell of blanks.
  const words = name.split(/\s+/).filter(Boolean)
  const comma = words.findIndex((word) => word.endsWith(','))
  const is_turned = comma >= 0 && comma < words.length - 1 && !after.has(bare(words[comma + 1] as string))
  if (is_turned) {
    const family = words
      .slice(0, comma + 1)
      .join(' ')
      .slice(0, -1)
    return { first: words.slice(comma + 1).join(' '), last: family }
  }
  let end = words.length
  // A suffix belongs to the last name, which it does not replace.
  while (end > 2 && after.has(bare(words[end - 1] as string))) end--
  if (end < 2) return { first: words.join(' ') || name, last: null }
  let start = end - 1
  const first_word = before.has(bare(words[0] as string)) && end > 2 ? 2 : 1
  while (start > first_word && particles.has(words[start - 1] as string)) start--
  return { first: words.slice(0, start).join(' '), last: words.slice(start).join(' ') }
}
