import { type Static, Type } from 'typebox'
import {
  Body,
  Id,
  nullableObject,
  OptionalId,
  OptionalText,
  OptionalTimestamp,
  Text,
  Timestamp,
  time,
} from '../../http/fields.ts'

const activity_types = ['call', 'email', 'meeting', 'task', 'other'] as const
export type ActivityType = (typeof activity_types)[number]
const activity_statuses = ['open', 'completed', 'overdue'] as const
export type ActivityStatus = (typeof activity_statuses)[number]

const TypeCode = (options: object = {}) =>
  Type.Unsafe<ActivityType>({ type: 'string', enum: activity_types, examples: ['call'], ...options })

const references = {
  contact_id: OptionalId({ examples: [42] }),
  company_id: OptionalId({ examples: [7] }),
  deal_id: OptionalId({ examples: [3] }),
}
const plain = {
  subject: Text(255, { examples: ['Talk about the offer'] }),
  body: OptionalText(65_535),
  due_at: OptionalTimestamp({ examples: ['2026-11-24T09:00:00.000Z'] }),
  completed_at: OptionalTimestamp({ description: 'Null while the activity is open.' }),
  outcome: OptionalText(255, { examples: ['Sends the order on Friday'] }),
  ...references,
}

/** The detail view of an activity, which its events carry. */
export const Activity = Type.Object(
  {
    id: Id({ examples: [12] }),
    type: TypeCode(),
    ...plain,
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: 'Activity' },
)
export type Activity = Static<typeof Activity>

const { body: _, ...listed } = Activity.properties
/** The list view: the detail view without the body, which may be long. */
export const ListedActivity = Type.Object(listed, { title: 'ListedActivity' })
export type ListedActivity = Static<typeof ListedActivity>

const Named = (title: string) => nullableObject(Type.Object({ id: Id(), name: Type.String() }, { title }))
const names = {
  contact: nullableObject(
    Type.Object(
      { id: Id(), first_name: Type.String(), last_name: Type.String() },
      { title: 'ActivityContact' },
    ),
  ),
  company: Named('ActivityCompany'),
  deal: Named('ActivityDeal'),
}
/** An activity of a list: the list view, with the names of what it refers to where they were asked for. */
export const ActivityOfList = Type.Object(
  { ...listed, ...Type.Partial(Type.Object(names)).properties },
  {
    title: 'ActivityOfList',
    description: 'The contact, the company and the deal by name are there with `details=true`.',
  },
)
export type ActivityOfList = Static<typeof ActivityOfList>

/** What a person may change. */
export const activity_fields = ['type', ...(Object.keys(plain) as (keyof typeof plain)[])] as const
export type ActivityFields = Pick<Activity, (typeof activity_fields)[number]>

const read_only = Object.keys(Activity.properties)
export const ActivityCreate = Body(
  {
    type: Type.Unsafe<ActivityType | null>({
      type: ['string', 'null'],
      enum: [...activity_types, null],
      description: 'Null is the default, task.',
      examples: ['call'],
    }),
    ...plain,
  },
  read_only,
  ['subject'],
)
// The least length makes a null or a blank the problem "required".
export const ActivityUpdate = Body({ type: TypeCode({ minLength: 1 }), ...plain }, read_only)
// What a person may change is unknown here, not ignored: a name that is sent to complete must not vanish.
export const Completion = Body(
  { outcome: plain.outcome },
  read_only.filter((name) => !(activity_fields as readonly string[]).includes(name)),
)

export const activity_filters = {
  type: Type.Optional(TypeCode()),
  status: Type.Optional(
    Type.Unsafe<ActivityStatus>({
      type: 'string',
      enum: activity_statuses,
      description: 'Overdue: open, and due before now.',
    }),
  ),
  due_from: time('Due at or after this time.'),
  due_to: time('Due at or before this time.'),
  contact_id: Type.Optional(Id()),
  company_id: Type.Optional(Id()),
  deal_id: Type.Optional(Id()),
  details: Type.Optional(
    Type.Unsafe<'true' | 'false'>({
      type: 'string',
      enum: ['true', 'false'],
      description: 'true: each activity with the names of its contact, its company and its deal.',
    }),
  ),
}
