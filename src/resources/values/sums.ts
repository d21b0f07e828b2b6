/** Ten-thousandths, as values of deals are stored. Large sums exceed the exact range of a number. */
export type Units = bigint

// A sum in SQL is exact up to 2^63, and JavaScript reads it exactly up to 2^53: enough for ten million highest values.
export const part = 1_000_000

/** A sum that the database computed in two parts; null for no rows. */
export const unitsOf = (parts: number | null, rest: number | null): Units =>
  BigInt(parts ?? 0) * BigInt(part) + BigInt(rest ?? 0)

/** The number nearest to these ten-thousandths; exact to four decimals up to 500 billion. */
export function decimalOf(units: Units): number {
  const digits = String(units).padStart(5, '0')
  return Number(`${digits.slice(0, -4)}.${digits.slice(-4)}`)
}

/** A hundredth of hundredfold ten-thousandths, half a ten-thousandth rounded up. */
export const hundredth = (hundredfold: Units): Units => (hundredfold + 50n) / 100n
