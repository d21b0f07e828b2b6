import { type Static, Type } from 'typebox'
import {
  Body,
  Day,
  Id,
  nullableObject,
  OptionalId,
  OptionalInteger,
  OptionalText,
  OptionalTimestamp,
  Text,
  Timestamp,
} from '../../http/fields.ts'
import { type Stage, type Status, stages } from './stages.ts'
import { highest_value } from './value.ts'

export const StageCode = (options: object = {}) =>
  Type.Unsafe<Stage>({ type: 'string', enum: [...stages], examples: ['proposal'], ...options })
export const StatusCode = (options: object = {}) =>
  Type.Unsafe<Status>({ type: 'string', enum: ['open', 'won', 'lost'], ...options })

const Value = Type.Unsafe<number | null>({
  type: ['number', 'null'],
  minimum: 0,
  maximum: highest_value,
  description: 'At most 4 decimals; kept and summed exactly.',
  examples: [12500.5],
})
const Probability = OptionalInteger(0, 100, {
  description: "Percent. Null takes the deal's own value away: it shows the default of its stage again.",
  examples: [60],
})
// The least length makes a null or a blank the problem "required".
const RequiredStage = StageCode({ minLength: 1 })
const LostReason = (description: string) => OptionalText(255, { description, examples: ['Price'] })

const texts = {
  priority: OptionalText(64, { examples: ['high'] }),
  source: OptionalText(255, { examples: ['website'] }),
}
const references = { contact_id: OptionalId({ examples: [3] }), company_id: OptionalId({ examples: [7] }) }
const expected_close_date = Day({ examples: ['2026-12-31'] })

const listed = {
  id: Id({ examples: [12] }),
  name: Text(255, { examples: ['Website relaunch'] }),
  value: Value,
  probability: Type.Integer({ minimum: 0, maximum: 100, examples: [60] }),
  stage: StageCode(),
  ...references,
  expected_close_date,
  status: StatusCode({ description: 'Follows the stage.', examples: ['open'] }),
}

/** The list view (contract: deals). */
export const ListedDeal = Type.Object(listed, { title: 'ListedDeal' })
export type ListedDeal = Static<typeof ListedDeal>

const details = {
  ...texts,
  lost_reason: LostReason('Null unless the deal is lost.'),
  closed_at: OptionalTimestamp({
    description: 'When the deal came into won or lost; null while it is open.',
  }),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  contact: nullableObject(
    Type.Object({ id: Id(), first_name: Type.String(), last_name: Type.String() }, { title: 'DealContact' }),
  ),
  company: nullableObject(Type.Object({ id: Id(), name: Type.String() }, { title: 'DealCompany' })),
}

/** The detail view. */
export const Deal = Type.Object({ ...listed, ...details }, { title: 'Deal' })
export type Deal = Static<typeof Deal>

/** A deal of a list: the list view, or the detail view where details were asked for. */
export const DealOfList = Type.Object(
  { ...listed, ...Type.Partial(Type.Object(details)).properties },
  { title: 'DealOfList', description: 'The fields of the detail view are there with `details=true`.' },
)

/** What a person may change beside what the rules of the stages own. */
export const plain_fields = [
  'name',
  'value',
  'contact_id',
  'company_id',
  'expected_close_date',
  'priority',
  'source',
] as const
export type PlainFields = Pick<Deal, (typeof plain_fields)[number]>

/** The fields that an update may name as changed (contract: events). */
export const change_fields = Object.keys(Deal.properties).filter(
  (name) => !['id', 'created_at', 'updated_at', 'contact', 'company'].includes(name),
)

const read_only = Object.keys(Deal.properties)
const plain = { name: Text(255), value: Value, ...references, expected_close_date, ...texts }

export const DealCreate = Body(
  {
    ...plain,
    stage: Type.Unsafe<Stage | null>({
      type: ['string', 'null'],
      enum: [...stages, null],
      description: 'Null is the default, new_lead.',
      examples: ['proposal'],
    }),
    probability: Probability,
    lost_reason: LostReason('Not accepted here, except null: change-stage and PUT take a reason.'),
  },
  read_only,
  ['name'],
)
export const DealUpdate = Body(
  {
    ...plain,
    stage: RequiredStage,
    probability: Probability,
    lost_reason: LostReason('Required with a new stage lost; on a lost deal it changes the reason.'),
  },
  read_only,
)
// The plain fields are unknown here, not ignored: a name that is sent to change-stage must not vanish.
export const StageChange = Body(
  {
    stage: RequiredStage,
    probability: Probability,
    lost_reason: LostReason('Required on entering lost; with any other stage only null is accepted.'),
  },
  read_only.filter((name) => !(plain_fields as readonly string[]).includes(name)),
  ['stage'],
)
