import { type Static, Type } from 'typebox'
import {
  Body,
  Day,
  flag,
  Id,
  nullableObject,
  OptionalId,
  OptionalInteger,
  OptionalNumber,
  OptionalText,
  OptionalTimestamp,
  Text,
  Titled,
} from '../../http/fields.ts'
import { valuesFilter } from '../../http/filter-parameters.ts'
import { Activity } from '../activities/schema.ts'
import { rangeFilter } from '../lists/filter-fields.ts'
import { dates, defineColumns, detailView, listView, readOnlyFields, type Values } from '../resource.ts'
import { ContactName, custom_fields, owner, tags, unlisted_authors } from '../shared-columns.ts'
import { highest_value } from '../values/decimal.ts'
import { open_stages, type Stage, type Status, stages } from './stages.ts'

export const StageCode = (options: object = {}) =>
  Type.Unsafe<Stage>({ type: 'string', enum: [...stages], examples: ['proposal'], ...options })
export const StatusCode = (options: object = {}) =>
  Type.Unsafe<Status>({ type: 'string', enum: ['open', 'won', 'lost'], ...options })

const Value = OptionalNumber(0, highest_value, {
  description: 'At most 4 decimals. Stored and summed exactly.',
  examples: [12500.5],
})
const Probability = OptionalInteger(0, 100, {
  description: 'In percent. Null removes the value of the deal, which then shows the default of its stage.',
  examples: [60],
})
// The minimum length makes a null or a blank the problem "required".
const RequiredStage = StageCode({ minLength: 1 })
const LostReason = (description: string) => OptionalText(255, { description, examples: ['Price'] })

const contact = ContactName('DealContact')
const company = Titled('DealCompany', { id: Id(), name: Type.String({ examples: ['Acme Inc.'] }) })

export const columns = defineColumns({
  name: { shown: Text(255, { examples: ['Website relaunch'] }), personal: true },
  value: { shown: Value, encoding: 'ten_thousandths', stored: 'value_units' },
  probability: {
    shown: Type.Integer({ minimum: 0, maximum: 100, examples: [60] }),
    taken: false,
    stored: false,
  },
  stage: { shown: StageCode(), taken: false, counted: true, personal: false },
  contact_id: { shown: OptionalId({ examples: [3] }), refers_to: 'contacts', counted: true },
  company_id: { shown: OptionalId({ examples: [7] }), refers_to: 'companies', counted: true },
  expected_close_date: { shown: Day({ examples: ['2026-12-31'] }), personal: false },
  status: {
    shown: StatusCode({
      description: 'Depends on the stage: won, lost, or open for all others.',
      examples: ['open'],
    }),
    taken: false,
    generated: true,
    counted: true,
    personal: false,
  },
  priority: {
    shown: OptionalText(64, { examples: ['high'] }),
    listed: false,
    filtered: true,
    personal: true,
  },
  source: {
    shown: OptionalText(255, { examples: ['website'] }),
    listed: false,
    filtered: true,
    personal: true,
  },
  lost_reason: {
    shown: LostReason('Null unless the deal is lost.'),
    taken: false,
    listed: false,
    personal: true,
  },
  closed_at: {
    shown: OptionalTimestamp({
      description: 'The time when the deal entered won or lost. Null while it is open.',
    }),
    taken: false,
    listed: false,
    personal: false,
  },
  created_at: { ...dates.created_at, listed: false },
  updated_at: { ...dates.updated_at, listed: false },
  contact: {
    shown: nullableObject(contact),
    listed: false,
    embeds: { by: 'contact_id', fields: ['first_name', 'last_name'] },
  },
  company: { shown: nullableObject(company), listed: false, embeds: { by: 'company_id', fields: ['name'] } },
  ...owner,
  tags: { ...tags.tags, listed: false },
  custom_fields: { ...custom_fields.custom_fields, listed: false },
  ...unlisted_authors,
})

export const ListedDeal = listView('ListedDeal', columns, 12)
export const Deal = detailView('Deal', columns, 12)
export type Deal = Static<typeof Deal>

/** How far a deal has come. */
const DealProgress = Type.Object({
  stage_since: OptionalTimestamp({
    description: 'The time when the deal entered its stage. Null if version 0.1 moved it there.',
  }),
  next_activity: nullableObject(
    Titled(
      'NextActivity',
      {
        id: Id(),
        type: Activity.properties.type,
        subject: Activity.properties.subject,
        due_at: Activity.properties.due_at,
      },
      { description: 'The open activity of the deal that is due first.' },
    ),
  ),
})

/** A deal in a list: the list view, or the detail view if the query asks for details. */
export const DealOfList = Titled(
  'DealOfList',
  {
    ...ListedDeal.properties,
    ...Type.Partial(Type.Omit(Deal, Object.keys(ListedDeal.properties))).properties,
    ...Type.Partial(DealProgress).properties,
  },
  {
    description:
      'With `details=true`, it has the fields of the detail view; with `progress=true`, also `stage_since` and `next_activity`.',
  },
)

export type PlainFields = Values<typeof columns>

// A deal of a list can be sent back, too.
const read_only = Object.keys({ ...Deal.properties, ...DealProgress.properties })
const { value, contact_id, company_id, expected_close_date, priority, source, owner_id } = Deal.properties
// The name has no example here: each operation has its own.
const plain = {
  name: Text(255),
  value,
  contact_id,
  company_id,
  expected_close_date,
  priority,
  source,
  owner_id,
  tags: columns.tags.taken,
  custom_fields: columns.custom_fields.taken,
}

export const DealCreate = Body(
  {
    ...plain,
    stage: Type.Unsafe<Stage | null>({
      type: ['string', 'null'],
      enum: [...stages, null],
      description: 'The default is new_lead, for null, too.',
      examples: ['proposal'],
    }),
    probability: Probability,
    lost_reason: LostReason('No reason is accepted here. Send it with change-stage or PUT.'),
  },
  read_only,
  ['name'],
)
export const DealUpdate = Body(
  {
    ...plain,
    stage: RequiredStage,
    probability: Probability,
    lost_reason: LostReason('Required if the new stage is lost. On a lost deal, it changes the reason.'),
  },
  read_only,
)
// Refuse the plain fields as unknown: change-stage must not ignore a changed name.
export const StageChange = Body(
  {
    stage: RequiredStage,
    probability: Probability,
    lost_reason: LostReason(
      'Required if the stage is lost and the deal was not. With any other stage, only null is accepted.',
    ),
  },
  readOnlyFields(columns, read_only),
  ['stage'],
)

/** The time since which a deal is in its stage, as a parameter of the list. */
export const stage_since = { name: 'stage_since', kind: 'time', nullable: false } as const

/** The furthest open stage that a deal has been in or past, as a parameter of the list. */
export const furthest_stage = {
  name: 'furthest_stage',
  kind: 'code',
  choices: open_stages,
  nullable: false,
} as const

/** Why a deal was lost, as a parameter of the list. */
export const lost_reason = { name: 'lost_reason', kind: 'text', nullable: true } as const

/** The parameters of the list, beside the filters by columns. */
export const deal_filters = {
  details: flag('true: each deal has its detail view, with its contact and its company.'),
  progress: flag(
    'true: each deal has its detail view, the time since which it is in its stage, and its next activity.',
  ),
  next_activity: Type.Optional(
    Type.Unsafe<'null' | '!null'>({
      type: 'string',
      enum: ['null', '!null'],
      description: '`null`: deals without an open activity; `!null`: deals with one.',
      'x-filter': true,
    }),
  ),
  stale: Type.Optional(
    Type.Unsafe<'true'>({
      type: 'string',
      enum: ['true'],
      description:
        '`true`: open deals that have been in their stage for at least `stale_after_days` of the workspace.',
      'x-filter': true,
    }),
  ),
  ...rangeFilter(stage_since),
  furthest_stage: valuesFilter(
    furthest_stage,
    'The furthest open stage that the deal has been in. A deal that was won has been in all of them.',
  ),
  lost_reason: valuesFilter(lost_reason, 'Why the deal was lost, compared letter by letter.'),
}
