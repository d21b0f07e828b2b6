/**
 * Round axis values from 0 to at least the highest value. There are at most five equal steps, of 1, 2, 2.5
 * or 5 times a power of ten.
 */
export function ticksTo(highest: number, whole = false): number[] {
  const rough = Math.max(highest, whole ? 1 : 0.0001) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const fits = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10
  const step = whole ? Math.max(1, Math.ceil(fits * power)) : fits * power
  const ticks = [0]
  while ((ticks.at(-1) ?? 0) < highest) ticks.push(step * ticks.length)
  return ticks
}
