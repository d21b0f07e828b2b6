import { Type } from 'typebox'
import { TextOrNull } from '../../http/fields.ts'
import { valuesFilter } from '../../http/filter-parameters.ts'

// Fields that several reports have.

export const Count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description && { description }), examples: [7] })
export const Value = (description: string) => Type.Number({ minimum: 0, description, examples: [12500.5] })

/** A part of a whole, from 0 to 1; null of nothing. */
export const Rate = (description: string) =>
  Type.Unsafe<number | null>({
    type: ['number', 'null'],
    minimum: 0,
    maximum: 1,
    description: `${description.replace(/\.$/, '')}, rounded to 4 decimals; null for 0 of 0.`,
    examples: [0.6364],
  })

/** A part of a whole, rounded to 4 decimals; null of nothing. */
export const rateOf = (part: number, whole: number): number | null =>
  whole ? Math.round((part * 10_000) / whole) / 10_000 : null

export const sums = {
  count: Count('The number of deals, including those without a value.'),
  value: Value('The sum of the values. Exact to 4 decimals up to 500 billion, the limit of JSON numbers.'),
  weighted_value: Value(
    'The sum of value × shown probability / 100. Summed exactly, then rounded once to 4 decimals, half up.',
  ),
}

export const owner_id = valuesFilter({ name: 'owner_id', kind: 'member', nullable: true })

/** The owner of a line; null for the records that nobody owns. */
export const LineOwner = TextOrNull({
  description: 'The id of a member or of a former member. Null: without an owner.',
  examples: ['usr_8hq2'],
})

/** A report has lines for at most this many owners. Its sums have all. */
export const max_owners = 200
export const omitted_owners = Type.Integer({
  minimum: 0,
  description: `The number of owners without lines: above ${max_owners}, those with the fewest records. The sums include them.`,
  examples: [0],
})
