import { type Static, Type } from 'typebox'
import { Id, Timestamp } from '../../http/fields.ts'
import { cursor } from '../../http/lists.ts'

/** What a timeline shows. Of several entries of one time, those of a later type in this list come first. */
export const entry_types = ['change', 'note', 'activity', 'appointment', 'deal', 'stage_change'] as const
export type EntryType = (typeof entry_types)[number]

const data = `Depends on the type. note, activity, appointment, deal: the record as its list shows it.
stage_change: deal_id, deal_name, from, to, by. change: action, actor, before, after, request_id, as in the audit log.`

export const TimelineEntry = Type.Object(
  {
    at: Timestamp({ description: 'When the record was created, or the change was made.' }),
    type: Type.Unsafe<EntryType>({ type: 'string', enum: entry_types }),
    id: Id({ description: 'Of the record, or of the change: unique with the type.', examples: [12] }),
    data: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: data }),
  },
  { title: 'TimelineEntry' },
)
export type TimelineEntry = Static<typeof TimelineEntry>

export const TimelineQuery = Type.Object(
  {
    per_page: Type.Integer({ minimum: 1, default: 25, description: 'Above 100 is taken as 100.' }),
    cursor,
  },
  { additionalProperties: false },
)
