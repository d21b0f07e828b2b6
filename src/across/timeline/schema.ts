import { Type } from 'typebox'
import { Exact, Id, Timestamp, Titled } from '../../http/fields.ts'
import { cursor } from '../../http/lists.ts'
import type { Resource } from '../../resources/resource.ts'

type EntryType = { type: string; rank: number }

/** The schema of an entry: a record of one of the resources, or one of the other types. */
export function timelineEntry(
  resources: readonly Resource[],
  others: readonly (EntryType & { about: string })[],
) {
  const records = resources.flatMap(({ timeline }) => timeline ?? []).sort(byRank)
  const types = [...records, ...others].sort(byRank).map(({ type }) => type)
  const data = `Depends on the type. ${records.map(({ type }) => type).join(', ')}: the record as its list shows it.
${others.map(({ type, about }) => `${type}: ${about}`).join(' ')}`
  return Titled('TimelineEntry', {
    at: Timestamp({ description: 'The time when the record was created or changed.' }),
    type: Type.Unsafe<string>({ type: 'string', enum: types }),
    id: Id({
      description: 'The id of the record or of the change. Unique together with the type.',
      examples: [12],
    }),
    data: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: data }),
  })
}

const byRank = (a: EntryType, b: EntryType) => a.rank - b.rank

export const TimelineQuery = Exact({
  per_page: Type.Integer({ minimum: 1, default: 25, description: 'A value above 100 counts as 100.' }),
  cursor,
})
