import { plainText } from './plain-text.ts'

/** The texts that a typed one is compared with. Keywords are further words that nobody sees. */
type Findable = { name: string; keywords?: string }

const wordsOf = (text: string) =>
  [...text.split(/[^\p{L}\p{M}\p{N}]+/u), ...text.split(/\s+/)].filter(Boolean)

/** Shorter words are compared exactly: too many others are one letter away. */
const shortest_near = 4
const shortest_near_beginning = 5

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

const isNearWord = (typed: string, word: string) => typed.length >= shortest_near && isNear(typed, word)
const isNearBeginning = (typed: string, word: string) =>
  typed.length >= shortest_near_beginning &&
  [-1, 0, 1].some((more) => isNear(typed, word.slice(0, typed.length + more)))

type Ranked<Item> = { item: Item; rank: number }
const inOrder = <Item>(ranked: Ranked<Item>[]): Item[] =>
  ranked
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)

/** Ranks items by the first of the tests that each typed word passes; an item that passes none is left out. */
function ranked<Item extends Findable>(
  text: string,
  items: readonly Item[],
  testsOf: (name: string, words: string[], all: string[], wanted: string) => ((typed: string) => boolean)[],
): Item[] {
  const wanted = plainText(text).trim()
  const typed = wanted.split(/\s+/).filter(Boolean)
  return inOrder(
    items.map((item) => {
      const name = plainText(item.name)
      const words = wordsOf(name)
      const tests = testsOf(name, words, [...words, ...wordsOf(plainText(item.keywords ?? ''))], wanted)
      return { item, rank: tests.findIndex((passes) => typed.every(passes)) }
    }),
  )
}

/**
 * The items of which the name or a keyword has every typed word, as the API compares them: first names that
 * start with the text, then names of which words do, names that contain it, and keywords that start with it.
 */
export const exactly = <Item extends Findable>(text: string, items: readonly Item[]): Item[] =>
  ranked(text, items, (name, words, all, wanted) => [
    () => name.startsWith(wanted),
    (typed) => words.some((word) => word.startsWith(typed)),
    (typed) => name.includes(typed),
    (typed) => all.some((word) => word.startsWith(typed)) || name.includes(typed),
  ])

/** The items that the typed words miss by one letter each: whole words of names, their beginnings, keywords. */
export const nearly = <Item extends Findable>(text: string, items: readonly Item[]): Item[] =>
  ranked(text, items, (_, words, all) => {
    const isOne = (typed: string, word: string) => word.startsWith(typed) || isNearWord(typed, word)
    const begins = (typed: string, word: string) => isOne(typed, word) || isNearBeginning(typed, word)
    return [
      (typed) => words.some((word) => isOne(typed, word)),
      (typed) => words.some((word) => begins(typed, word)),
      (typed) => all.some((word) => begins(typed, word)),
    ]
  })

/** The items that match a text exactly; if there are none, those that nearly do. */
export function matching<Item extends Findable>(text: string, items: readonly Item[]): Item[] {
  const found = exactly(text, items)
  return found.length ? found : nearly(text, items)
}
