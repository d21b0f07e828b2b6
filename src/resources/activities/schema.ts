import { type Static, Type } from 'typebox'
import {
  Body,
  flag,
  Id,
  nullableObject,
  OptionalId,
  OptionalText,
  OptionalTimestamp,
  Text,
  Titled,
} from '../../http/fields.ts'
import { valuesFilter } from '../../http/filter-parameters.ts'
import {
  bodyOf,
  dates,
  defineColumns,
  detailView,
  listView,
  readOnlyFields,
  type Values,
} from '../resource.ts'
import { authors, ContactName, custom_fields, owner, tags } from '../shared-columns.ts'

export const activity_types = ['call', 'email', 'meeting', 'task', 'other'] as const
export type ActivityType = (typeof activity_types)[number]

const TypeCode = (options: object = {}) =>
  Type.Unsafe<ActivityType>({ type: 'string', enum: activity_types, examples: ['call'], ...options })

// The minimum length makes a null or a blank the problem "required".
const type = {
  create: Type.Unsafe<ActivityType | null>({
    type: ['string', 'null'],
    enum: [...activity_types, null],
    description: 'The default is task, for null, too.',
    examples: ['call'],
  }),
  update: TypeCode({ minLength: 1 }),
}

export const columns = defineColumns({
  type: { shown: TypeCode(), taken: type, default: 'task', counted: true, personal: false },
  subject: { shown: Text(255, { examples: ['Talk about the offer'] }), required: true, personal: true },
  body: { shown: OptionalText(65_535), listed: false, personal: true },
  due_at: { shown: OptionalTimestamp({ examples: ['2026-11-24T09:00:00.000Z'] }), personal: false },
  completed_at: {
    shown: OptionalTimestamp({ description: 'Null while the activity is open.' }),
    personal: false,
  },
  outcome: { shown: OptionalText(255, { examples: ['Sends the order on Friday'] }), personal: true },
  contact_id: { shown: OptionalId({ examples: [42] }), refers_to: 'contacts', counted: true },
  company_id: { shown: OptionalId({ examples: [7] }), refers_to: 'companies', counted: true },
  deal_id: { shown: OptionalId({ examples: [3] }), refers_to: 'deals', counted: true },
  ...owner,
  ...tags,
  ...custom_fields,
  ...authors,
  ...dates,
})

/** The detail view of an activity, which its events carry. */
export const Activity = detailView('Activity', columns, 12)
export type Activity = Static<typeof Activity>
export const ListedActivity = listView('ListedActivity', columns, 12)

const Named = (title: string) =>
  nullableObject(Titled(title, { id: Id(), name: Type.String({ examples: ['Acme Inc.'] }) }))
const names = {
  contact: nullableObject(ContactName('ActivityContact')),
  company: Named('ActivityCompany'),
  deal: Named('ActivityDeal'),
}
/** An activity in a list: the list view, with the names of its references if the query asks for them. */
export const ActivityOfList = Titled(
  'ActivityOfList',
  { ...ListedActivity.properties, ...Type.Partial(Type.Object(names)).properties },
  {
    description: 'With `details=true`, it has the names of the contact, the company and the deal.',
  },
)

/** The names of the records that an activity refers to. */
export const references_by_name = defineColumns({
  contact: { shown: names.contact, embeds: { by: 'contact_id', fields: ['first_name', 'last_name'] } },
  company: { shown: names.company, embeds: { by: 'company_id', fields: ['name'] } },
  deal: { shown: names.deal, embeds: { by: 'deal_id', fields: ['name'] } },
})

export type ActivityFields = Values<typeof columns>

// An activity of a list with names can be sent back, too.
const sent = { ...columns, ...references_by_name }
export const ActivityCreate = bodyOf(sent, 'create')
export const ActivityUpdate = bodyOf(sent, 'update')
// Refuse the writable fields of an activity as unknown: `complete` must not ignore a changed name.
export const Completion = Body(
  { outcome: columns.outcome.shown },
  readOnlyFields(columns, Object.keys(Activity.properties)),
)

/** The status of an activity, which no column stores. */
export const status_filter = {
  name: 'status',
  kind: 'code',
  choices: ['open', 'completed', 'overdue'],
  nullable: false,
} as const

export const activity_filters = {
  status: valuesFilter(status_filter, 'Overdue: open, and due before now.'),
  details: flag('true: each activity with the names of its contact, its company and its deal.'),
}
