const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()

/**
 * The items whose name contains every typed word, ignoring case and accents. Names that start with the text
 * come first.
 */
export function matching<Item extends { name: string }>(text: string, items: readonly Item[]): Item[] {
  const wanted = plain(text.trim())
  const words = wanted.split(/\s+/).filter(Boolean)
  const rank = (name: string) => {
    if (name.startsWith(wanted)) return 0
    return name.split(/\s+/).some((word) => word.startsWith(words[0] ?? '')) ? 1 : 2
  }
  return items
    .map((item) => ({ item, name: plain(item.name) }))
    .filter(({ name }) => words.every((word) => name.includes(word)))
    .sort((a, b) => rank(a.name) - rank(b.name))
    .map(({ item }) => item)
}
