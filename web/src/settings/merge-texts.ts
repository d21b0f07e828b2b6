/**
 * The changes of a list of texts since `base`, on top of the list as it is now. If the person has changed the order, theirs
 * counts.
 */
export function mergeTexts(base: string[], mine: string[], now: string[]): string[] {
  if (base.join('\n') === now.join('\n')) return mine
  const both = (some: string[], others: string[]) => some.filter((text) => others.includes(text)).join('\n')
  const [first, then] = both(mine, base) === both(base, mine) ? [now, mine] : [mine, now]
  const stays = (text: string) => !base.includes(text) || (mine.includes(text) && now.includes(text))
  return [...new Set([...first, ...then])].filter(stays)
}
