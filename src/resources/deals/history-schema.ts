import { type Static, Type } from 'typebox'
import { NamedActor } from '../../events/actors.ts'
import { OptionalTimestamp, rest_cursor, Timestamp } from '../../http/fields.ts'
import { StageCode } from './schema.ts'
import { type Stage, stages } from './stages.ts'

/** A stay of a deal in a stage. */
export const StageStay = Type.Object(
  {
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
  },
  { title: 'StageStay' },
)
export type StageStay = Static<typeof StageStay>

export const StagesQuery = Type.Object({ cursor: rest_cursor }, { additionalProperties: false })
