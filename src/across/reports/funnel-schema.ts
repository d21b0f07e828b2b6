import { type Static, Type } from 'typebox'
import { Exact, TextOrNull, Titled } from '../../http/fields.ts'
import { StageCode } from '../../resources/deals/schema.ts'
import { open_stages } from '../../resources/deals/stages.ts'
import { Count, owner_id, Rate } from './fields.ts'
import { period_answer, periodParameters } from './period.ts'

const Days = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, description, examples: [4.25] })

const LostReasons = Type.Unsafe<{ reason: string | null; count: number }[] | null>({
  anyOf: [
    {
      type: 'array',
      items: Titled('LostReason', {
        reason: TextOrNull({ examples: ['Price'] }),
        count: Count(),
      }),
    },
    { type: 'null' },
  ],
  description:
    'The ten most frequent reasons of these lost deals. Null if the caller may not read deals (deals:read).',
})

export const FunnelStage = Titled('FunnelStage', {
  stage: StageCode({ enum: [...open_stages] }),
  reached_count: Count('Deals that came this far, in this stage or past it.'),
  conversion_to_next: Rate(
    'The part of them that came further: to the next stage, or to won from the last stage.',
  ),
  conversion_to_won: Rate('The part of them that are won.'),
  open_count: Count('Deals that came no further and are open.'),
  lost_count: Count('Deals that came no further and are lost.'),
  left_count: Count('Deals that were in this stage and left it. The days are theirs.'),
  median_days: Days('The median of the days that these deals spent in the stage.'),
  mean_days: Days('Their mean.'),
  lost_reasons: LostReasons,
})
export type FunnelStage = Static<typeof FunnelStage>

export const Funnel = Titled('FunnelReport', {
  ...period_answer,
  count: Count('Live deals that were created in the period.'),
  open_count: Count('Those that are open.'),
  won_count: Count('Those that are won.'),
  lost_count: Count('Those that are lost.'),
  win_rate: Rate('won_count / (won_count + lost_count)'),
  stages: Type.Array(FunnelStage, { description: 'The six open stages, in their order.' }),
})
export type Funnel = Static<typeof Funnel>

export const max_days = 1096
export const FunnelQuery = Exact({ ...periodParameters(max_days), owner_id })
