export type Random = ReturnType<typeof seededRandom>

/** Repeatable choices: the same seed gives the same sequence on every machine (32-bit xorshift, seed not 0). */
export function seededRandom(seed: number) {
  let state = seed >>> 0
  const below = (limit: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    // Neighbouring values of plain xorshift are correlated. The multiplication spreads the high bits.
    return (Math.imul(state, 0x9e3779b1) >>> 8) % limit
  }
  return {
    below,
    between: (lowest: number, highest: number) => lowest + below(highest - lowest + 1),
    chance: (percent: number) => below(100) < percent,
    pick: <T>(choices: readonly T[]): T => choices[below(choices.length)] as T,
  }
}
