import { type RawBuilder, sql } from 'kysely'

const units = 10_000

/** The highest value of a deal; the lowest is 0 (contract: deals). */
export const highest_value = 99_999_999_999.9999

/** The ten-thousandths that are stored, so that sums are exact: below 2^53 for every value that is accepted. */
export const toUnits = (value: number | null): number | null =>
  value === null ? null : Math.round(value * units)

/** The number that was sent. A division is rounded correctly, so it returns the double nearest to the decimals. */
export const fromUnits = (value_units: number | null): number | null =>
  value_units === null ? null : value_units / units

/** The text of that number in JSON, as SQL: without an exponent, which no stored number needs. */
export const unitsAsText = (value_units: RawBuilder<unknown>): RawBuilder<string> => sql`
  CASE WHEN ${value_units} IS NULL THEN 'null' ELSE concat(${value_units} / ${sql.lit(units)},
    CASE WHEN ${value_units} % ${sql.lit(units)} > 0
      THEN concat('.', rtrim(substr(CAST(${sql.lit(units)} + ${value_units} % ${sql.lit(units)} AS text), 2), '0')) END) END`

/** Whether a number has at most 4 decimals, judged on the double that its JSON text stands for. */
export const isExact = (value: number): boolean => Math.round(value * units) / units === value
