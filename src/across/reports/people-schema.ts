import { type Static, Type } from 'typebox'
import { Activity } from '../../resources/activities/schema.ts'
import { Count, LineOwner, omitted_owners, only, owner_id } from './fields.ts'
import { period_answer, periodParameters } from './period.ts'

const counts = {
  done_count: Count('Activities that were completed in the period.'),
  open_count: Count('Open activities that are due in the period, including those that are overdue.'),
  overdue_count: Count('Those of them that were due before now.'),
}
const types = Type.Array(
  Type.Object({ type: Activity.properties.type, ...counts }, { title: 'PersonActivitiesOfType' }),
  { description: 'The types with any, in the order of their codes.' },
)

export const PeopleActivities = Type.Object(
  {
    ...period_answer,
    ...counts,
    types,
    people: Type.Array(
      Type.Object({ owner_id: LineOwner, ...counts, types }, { title: 'PersonActivities' }),
      { description: 'Owners with any of these activities: first those with the most.' },
    ),
    omitted_owners,
  },
  { title: 'PeopleReport' },
)
export type PeopleActivities = Static<typeof PeopleActivities>

export const max_days = 366
export const PeopleQuery = Type.Object({ ...periodParameters(max_days), owner_id }, only)
