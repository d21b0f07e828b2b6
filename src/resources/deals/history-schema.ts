import { type Static, Type } from 'typebox'
import { NamedActor } from '../../events/actors.ts'
import { Exact, OptionalTimestamp, rest_cursor, Timestamp, Titled } from '../../http/fields.ts'
import { StageCode } from './schema.ts'
import { type Stage, stages } from './stages.ts'

/** A stay of a deal in a stage. */
export const StageStay = Titled('StageStay', {
  stage: StageCode(),
  from_stage: Type.Unsafe<Stage | null>({
    type: ['string', 'null'],
    enum: [...stages, null],
    description: 'The previous stage. Null for the first stage of the deal.',
  }),
  entered_at: Timestamp(),
  left_at: OptionalTimestamp({ description: 'Null for the current stage.' }),
  duration_seconds: Type.Integer({
    description: 'The seconds from entered_at to left_at, or to now in the current stage.',
    examples: [86400],
  }),
  changed_by: NamedActor,
})
export type StageStay = Static<typeof StageStay>

export const StagesQuery = Exact({ cursor: rest_cursor })
