import { Type } from 'typebox'
import { work_kinds } from '../db/work-table.ts'
import { NamedActor } from '../events/actors.ts'
import { ListQuery, OptionalTimestamp, TextOrNull, Timestamp, Titled } from '../http/fields.ts'
import { codesFilter } from '../http/filter-parameters.ts'
import { cursor } from '../http/lists.ts'

/** Unfinished work as GET shows it. */
export const WorkView = Titled('Work', {
  id: Type.String({ examples: ['wrk_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  kind: Type.Unsafe<string>({ type: 'string', enum: work_kinds }),
  subject: Type.String({
    description: 'The id of the webhook, member, import, merge or custom field.',
    examples: ['wh_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'],
  }),
  state: Type.String({
    description:
      '`running`; of a backfill that was stopped `cancelled`; of a deleted custom field `removing`.',
    examples: ['running'],
  }),
  attempts: Type.Integer({ description: 'The attempts that failed since the last step that succeeded.' }),
  last_error: TextOrNull({
    description: 'The error of the last attempt. Null after a step that succeeded.',
    examples: ['internal_error'],
  }),
  leased_until: OptionalTimestamp({
    description: 'Until then, no other process takes it. Null: the next step is due.',
  }),
  created_at: Timestamp(),
  created_by: NamedActor,
})

export const WorkQuery = ListQuery({ cursor, kind: codesFilter('kind', work_kinds) })
