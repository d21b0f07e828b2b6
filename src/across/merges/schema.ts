import { type TSchema, Type } from 'typebox'
import { NamedActor } from '../../events/actors.ts'
import { Id, ListQuery, TextOrNull, Timestamp, Titled } from '../../http/fields.ts'
import { codesFilter, idsFilter } from '../../http/filter-parameters.ts'
import { cursor } from '../../http/lists.ts'
import { max_left } from './state.ts'

/** The most records that one merge takes. */
const max_from_ids = 10

export const MergeBody = Type.Object(
  {
    from_ids: Type.Array(Id(), {
      minItems: 1,
      maxItems: max_from_ids,
      description: 'The records that go to the trash.',
      examples: [[57]],
    }),
    fields: Type.Optional(
      Type.Unsafe<Record<string, number>>({
        type: 'object',
        additionalProperties: Id(),
        maxProperties: 200,
        description:
          'The record whose value a field gets: the name of a field or `custom_fields.KEY`, and an id. By default the survivor keeps its value; else it gets the first one that is not null.',
        examples: [{}],
      }),
    ),
  },
  { additionalProperties: false, title: 'MergeRequest' },
)

/** The survivor, with the id by which the merge can be undone. */
export const Merged = (view: TSchema) =>
  Titled(`Merged${(view as { title?: string }).title}Answer`, {
    success: Type.Literal(true),
    data: view,
    meta: Titled('MergeMeta', { merge_id: Id({ examples: [3] }) }),
  })

const statuses = ['running', 'done', 'undoing', 'undone'] as const

export const MergeView = (kinds: readonly string[]) =>
  Titled('Merge', {
    id: Id({ examples: [3] }),
    kind: Type.Unsafe<string>({ type: 'string', enum: kinds, examples: ['contacts'] }),
    survivor_id: Id({ examples: [42] }),
    from_ids: Type.Array(Id(), { examples: [[57]] }),
    status: Type.Unsafe<(typeof statuses)[number]>({
      type: 'string',
      enum: statuses,
      description: 'A merge of many linked records is `running` until all are moved.',
      examples: ['done'],
    }),
    created_at: Timestamp(),
    created_by: NamedActor,
    undone_at: TextOrNull({
      format: 'date-time',
      examples: [null],
    }),
    undo_until: TextOrNull({
      format: 'date-time',
      description: 'Until then it can be undone. Null: it cannot be undone.',
      examples: ['2026-12-21T08:30:00.000Z'],
    }),
  })

export const MergesQuery = (kinds: readonly string[]) =>
  ListQuery({
    cursor,
    kind: codesFilter('kind', kinds),
    record_id: idsFilter('record_id', 'The record that survived.'),
  })

const Left = Titled('LeftRecord', {
  kind: Type.String({ examples: ['deals'] }),
  id: Id({ examples: [12] }),
  reason: Type.String({
    description:
      '`changed` since the merge; `deleted` or `not_found`; `owner_not_found`: the record that it belonged to; `refused` by a rule.',
    examples: ['changed'],
  }),
})

/** The records that an undo put back, and those that it left. */
export const Undone = Type.Object({
  success: Type.Literal(true),
  data: Titled('UndoneMerge', {
    restored: Type.Integer({ description: 'The number of records that were put back.', examples: [8] }),
    left: Type.Array(Left, { description: `The records that stay as they are: the first ${max_left}.` }),
  }),
  meta: Titled('UndoneMeta', {
    left: Type.Integer({ description: 'The number of all records that stay as they are.' }),
  }),
})
