// Words with one wrong letter, for a search that finds nothing.

/** Shorter words are compared exactly: too many others are one letter away. */
const shortest = 5

/** Texts of more words are compared exactly: each word has lists, and each list is looked up with all other words. */
const most_words = 8

/**
 * Lists of parts for each long word of a query. A text that has all words, but one of them with one wrong, missing, extra or
 * swapped letter, contains the other words, and all parts of one list. So an index of whole words finds it. Without a list, no
 * text is nearly equal.
 */
export const nearParts = (words: readonly string[]): { others: string[]; lists: string[][] }[] =>
  (words.length > most_words ? [] : words)
    .map((word) => ({
      others: words.filter((other) => other !== word),
      lists: partsOf([...word]),
    }))
    .filter(({ lists }) => lists.length > 0)

// Of two parts, one has no wrong letter, unless the letters where they meet are swapped.
function partsOf(letters: string[]): string[][] {
  if (letters.length < shortest) return []
  const part = (from: number, to?: number) => letters.slice(from, to).join('')
  const swapped = (at: number) =>
    letters
      .with(at, letters[at + 1] ?? '')
      .with(at + 1, letters[at] ?? '')
      .join('')
  const half = Math.floor(letters.length / 2)
  // A part of two letters is too common to be looked up alone.
  if (half < 3) return [[part(0, 3)], [part(-3)], [part(0, 2), part(-2)], [swapped(1)], [swapped(2)]]
  return [[part(0, half)], [part(half)], [swapped(half - 1)]]
}

/** Whether a normalised text has all words, one of them perhaps with one wrong letter. */
export function isNearly(words: readonly string[], text: string): boolean {
  const others = words.filter((word) => !text.includes(word))
  const [typed = ''] = others
  if (others.length !== 1 || typed.length < shortest) return !others.length
  return [...text.split(/[^\p{L}\p{M}\p{N}]+/u), ...text.split(/\s+/)].some((word) =>
    [-1, 0, 1].some((more) => isNear(typed, word.slice(0, typed.length + more))),
  )
}

/** Whether one wrong, missing, extra or swapped letter is the only difference. */
function isNear(typed: string, word: string): boolean {
  let at = 0
  while (at < typed.length && typed[at] === word[at]) at++
  const [rest, other] = [typed.slice(at), word.slice(at)]
  return (
    rest.slice(1) === other.slice(1) ||
    rest.slice(1) === other ||
    rest === other.slice(1) ||
    (rest[0] === other[1] && rest[1] === other[0] && rest.slice(2) === other.slice(2))
  )
}
