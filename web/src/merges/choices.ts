type Fields = Record<string, unknown> & { id: number }

/** The value of one field in each of the records, and the record whose value stays by default. */
export type Choice = {
  /** As the API names it: `phone` or `custom_fields.region`. */
  field: string
  values: { id: number; value: unknown }[]
  usual: number
  /** Whether several records have a value, and not the same one, so that there is something to choose. */
  differs: boolean
}

// Written by the service, computed from other records, or united by a merge.
const unchosen = [
  ...['id', 'etag', 'created_at', 'updated_at'],
  ...['last_contacted_at', 'next_activity_at', 'open_deals_value'],
  ...['tags', 'custom_fields'],
]
const isEmpty = (value: unknown) => value === null || value === undefined || value === ''

function choiceOf(field: string, records: readonly Fields[], read: (record: Fields) => unknown): Choice[] {
  const values = records.map((record) => ({ id: record.id, value: read(record) ?? null }))
  const filled = values.filter(({ value }) => !isEmpty(value))
  const [first] = filled
  if (!first) return []
  return [{ field, values, usual: first.id, differs: filled.some(({ value }) => value !== first.value) }]
}

/**
 * The fields that at least one of the records has. The first record is the one that stays: its values count first. `defined`
 * has the keys of the custom fields that come before the others.
 */
export function choicesOf(records: readonly Fields[], defined: readonly string[] = []): Choice[] {
  const customOf = (record: Fields) => (record.custom_fields ?? {}) as Record<string, unknown>
  // Embedded records, such as the company, follow from their ids.
  const names = Object.keys(records[0] ?? {}).filter(
    (name) => !unchosen.includes(name) && records.every((record) => typeof (record[name] ?? '') !== 'object'),
  )
  const found = records.flatMap((record) => Object.keys(customOf(record))).sort()
  const keys = [...new Set([...defined, ...found])]
  return [
    ...names.flatMap((name) => choiceOf(name, records, (record) => record[name])),
    ...keys.flatMap((key) => choiceOf(`custom_fields.${key}`, records, (record) => customOf(record)[key])),
  ]
}

/** The tags of all records, as the merge unites them. */
export const unitedTags = (records: readonly Fields[]): string[] => [
  ...new Set(records.flatMap((record) => (record.tags ?? []) as string[])),
]

/** The ids in the address after the survivor: distinct, and at most ten. */
export const idsIn = (text: string, survivor: number): number[] =>
  [...new Set(text.split(',').map(Number))]
    .filter((id) => Number.isSafeInteger(id) && id > 0 && id !== survivor)
    .slice(0, 10)
