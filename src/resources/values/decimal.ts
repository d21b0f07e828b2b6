/** Money is stored in these parts of one, so that sums are exact. */
export const units = 10_000

/** The highest value of a deal; the lowest is 0 (contract: deals). */
export const highest_value = 99_999_999_999.9999

/** The ten-thousandths that are stored, so that sums are exact: below 2^53 for every value that is accepted. */
export const toUnits = (value: number | null): number | null =>
  value === null ? null : Math.round(value * units)

/** Whether a number has at most 4 decimals, judged on the double that its JSON text stands for. */
export const isExact = (value: number): boolean => Math.round(value * units) / units === value
