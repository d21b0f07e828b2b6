import { type Static, Type } from 'typebox'
import { Exact, Titled } from '../../http/fields.ts'
import { Activity } from '../../resources/activities/schema.ts'
import { Count, LineOwner, omitted_owners, owner_id } from './fields.ts'
import { period_answer, periodParameters } from './period.ts'

const counts = {
  done_count: Count('Activities that were completed in the period.'),
  open_count: Count('Open activities that are due in the period, including those that are overdue.'),
  overdue_count: Count('Those of them that were due before now.'),
}
const types = Type.Array(Titled('PersonActivitiesOfType', { type: Activity.properties.type, ...counts }), {
  description: 'The types with any, in the order of their codes.',
})

export const PeopleActivities = Titled('PeopleReport', {
  ...period_answer,
  ...counts,
  types,
  people: Type.Array(Titled('PersonActivities', { owner_id: LineOwner, ...counts, types }), {
    description: 'Owners with any of these activities: first those with the most.',
  }),
  omitted_owners,
})
export type PeopleActivities = Static<typeof PeopleActivities>

export const max_days = 366
export const PeopleQuery = Exact({ ...periodParameters(max_days), owner_id })
