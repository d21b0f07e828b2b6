import { type Static, Type } from 'typebox'
import { Body, OptionalTimestamp, Titled } from '../../http/fields.ts'

/** The body of a backfill. `kinds` are the names of kinds with events. */
export const BackfillBody = (kinds: readonly string[]) =>
  Body(
    {
      kinds: Type.Unsafe<string[]>({
        type: 'array',
        minItems: 1,
        maxItems: kinds.length,
        items: { type: 'string', enum: kinds },
        description: 'The kinds of records, in the order in which they are sent.',
        examples: [['companies', 'contacts']],
      }),
      since: OptionalTimestamp({ description: 'Only records that changed at or after this time.' }),
    },
    [],
    ['kinds'],
  )

/** How far a backfill has come. */
export const BackfillView = Titled('Backfill', {
  status: Type.Unsafe<'none' | 'running' | 'succeeded' | 'cancelled'>({
    type: 'string',
    enum: ['none', 'running', 'succeeded', 'cancelled'],
    description:
      'None: the webhook never had a backfill. Succeeded: every record is in the queue of the webhook, or was sent.',
  }),
  kinds: Type.Array(Type.String(), { examples: [['companies', 'contacts']] }),
  since: OptionalTimestamp(),
  total: Type.Integer({ description: 'The number of records at the start.' }),
  sent: Type.Integer({
    description:
      'The number of records that were handed to the queue of the webhook: those that meet its conditions.',
  }),
  started_at: OptionalTimestamp(),
  finished_at: OptionalTimestamp(),
})
export type BackfillView = Static<typeof BackfillView>
