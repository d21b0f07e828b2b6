import { type Static, Type } from 'typebox'
import { Body, OptionalTimestamp, Text, Timestamp, Titled } from '../http/fields.ts'

/** The most feeds of a person in a workspace. */
export const max_feeds = 10

const activities = ['none', 'todo', 'event'] as const
const details = ['full', 'busy'] as const
export type FeedFields = {
  name: string
  activities: (typeof activities)[number]
  details: (typeof details)[number]
}
export const feed_fields = ['name', 'activities', 'details'] as const
export const feed_defaults: Pick<FeedFields, 'activities' | 'details'> = {
  activities: 'none',
  details: 'full',
}

const fields = {
  name: Text(255, { examples: ['Phone'] }),
  activities: Type.Unsafe<FeedFields['activities']>({
    type: 'string',
    enum: activities,
    description: 'The own activities with a due date: none, as tasks (VTODO), or as events of 30 minutes.',
  }),
  details: Type.Unsafe<FeedFields['details']>({
    type: 'string',
    enum: details,
    description: 'busy: times with the summary Busy, without activities.',
  }),
}

export const CalendarFeed = Titled('CalendarFeed', {
  id: Type.String({ examples: ['feed_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  ...fields,
  created_at: Timestamp(),
  last_read_at: OptionalTimestamp({ description: 'The last read by a calendar program, to the minute.' }),
})
export type CalendarFeed = Static<typeof CalendarFeed>

export const NewCalendarFeed = Titled('NewCalendarFeed', {
  ...CalendarFeed.properties,
  url_path: Type.String({ description: 'Shown once.', examples: ['/ics/TOKEN.ics'] }),
  url: Type.String({ examples: ['https://crm.example.com/ics/TOKEN.ics'] }),
})

const read_only = Object.keys(NewCalendarFeed.properties)
export const FeedCreate = Body(fields, read_only, ['name'])
export const FeedUpdate = Body(fields, read_only)
export const FeedParams = Type.Object({ feed_id: Type.String() })
