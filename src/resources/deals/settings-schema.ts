import { Type } from 'typebox'
import { Body, OptionalInteger, OptionalText, Text, TextOrNull, Titled } from '../../http/fields.ts'
import { StageCode } from './schema.ts'
import { stages } from './stages.ts'

const Label = OptionalText(60, {
  description: 'What the app calls the stage. Null: its usual name, in the language of each person.',
  examples: ['Offer sent'],
})
const Colour = TextOrNull({
  pattern: '^#[0-9a-f]{6}$',
  description: 'Null: the usual colour.',
  examples: ['#1c7ed6'],
})
const texts = (max: number, description: string, examples: string[]) => ({
  maxItems: 100,
  items: Text(max),
  description,
  examples: [examples],
})
const lost_reasons = texts(255, 'The reasons that the app offers. Any other text is accepted, too.', [
  'Price',
  'No budget',
])
const contact_stages = texts(64, 'The stages that the app offers. Any other text is accepted, too.', [
  'lead',
  'customer',
])
const stages_text = 'The stages of deals in the order of the workspace. won and lost are the last.'

export const StageSettings = Titled('StageSettings', {
  deal_stages: Type.Array(
    Titled('StageSetting', {
      stage: StageCode(),
      label: Label,
      colour: Colour,
      probability: Type.Integer({ minimum: 0, maximum: 100, examples: [60] }),
      stale_after_days: OptionalInteger(1, 3650, {
        description: 'After so many days in the stage, an open deal stands still. Null in won and lost.',
        examples: [14],
      }),
    }),
    { description: stages_text },
  ),
  lost_reasons: Type.Array(Type.String(), lost_reasons),
  contact_stages: Type.Array(Type.String(), contact_stages),
})

const SentStage = Type.Unsafe<{
  stage: string
  label?: string | null
  colour?: string | null
  probability?: number | null
  stale_after_days?: number | null
}>({
  type: 'object',
  properties: {
    stage: StageCode({ minLength: 1 }),
    label: Label,
    colour: Colour,
    probability: OptionalInteger(0, 100, {
      description: 'Null: the usual one of the stage.',
      examples: [60],
    }),
    stale_after_days: OptionalInteger(1, 3650, { description: 'Null: 14.', examples: [14] }),
  },
  required: ['stage'],
  additionalProperties: false,
})
export const StageSettingsBody = Body({
  deal_stages: Type.Array(SentStage, {
    maxItems: 20,
    description: `${stages_text} All eight are needed. A field that is left out is null.`,
    examples: [stages.map((stage) => ({ stage }))],
  }),
  lost_reasons: Type.Array(Text(255), lost_reasons),
  contact_stages: Type.Array(Text(64), contact_stages),
})
