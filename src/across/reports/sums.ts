/** Ten-thousandths, as values of deals are stored. Sums of many go beyond what a number holds exactly. */
export type Units = bigint

// A sum in SQL is exact up to 2^63 only, and arrives exactly up to 2^53: ten million of the highest values go into these.
export const part = 1_000_000

/** A sum that the database made in two parts; null is the sum of nothing. */
export const unitsOf = (parts: number | null, rest: number | null): Units =>
  BigInt(parts ?? 0) * BigInt(part) + BigInt(rest ?? 0)

/** The number that is nearest to so many ten-thousandths: the very decimal up to 500 billion. */
export function decimalOf(units: Units): number {
  const digits = String(units).padStart(5, '0')
  return Number(`${digits.slice(0, -4)}.${digits.slice(-4)}`)
}

/** A hundredth of hundredfold ten-thousandths, half a ten-thousandth rounded up. */
export const hundredth = (hundredfold: Units): Units => (hundredfold + 50n) / 100n
