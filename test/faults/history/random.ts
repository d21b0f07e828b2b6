/** Chance that a seed repeats: the same seed gives the same numbers. */
export function createChance(seed: number) {
  let state = seed >>> 0
  // Mulberry32: 32 bits of state are enough for choices.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    oneOf: <T>(all: readonly T[]): T => all[below(all.length)] as T,
    /** One of the names, as often as its weight says. */
    weighted<T extends string>(weights: Record<T, number>): T {
      const all = Object.entries(weights) as [T, number][]
      let left = below(all.reduce((sum, [, weight]) => sum + weight, 0))
      for (const [name, weight] of all) {
        left -= weight
        if (left < 0) return name
      }
      throw new Error('No weights.')
    },
    /** A text of letters and digits. */
    text: (length: number) => Array.from({ length }, () => below(36).toString(36)).join(''),
  }
}
export type Chance = ReturnType<typeof createChance>
