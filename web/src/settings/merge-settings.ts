import type { Schemas } from '../api/client.ts'
import { written } from '../ui/written.ts'
import { mergeTexts } from './merge-texts.ts'

type Settings = Schemas['StageSettings']
type Stages = Settings['deal_stages']

/** The changes of a person since `base`, on top of the settings that a colleague may have changed meanwhile. */
export const mergeSettings = (base: Settings, mine: Partial<Settings>, now: Settings): Partial<Settings> => ({
  ...(mine.deal_stages && { deal_stages: mergeStages(base.deal_stages, mine.deal_stages, now.deal_stages) }),
  ...(mine.lost_reasons && {
    lost_reasons: mergeTexts(base.lost_reasons, mine.lost_reasons, now.lost_reasons),
  }),
  ...(mine.contact_stages && {
    contact_stages: mergeTexts(base.contact_stages, mine.contact_stages, now.contact_stages),
  }),
})

const codesOf = (stages: Stages) => stages.map(({ stage }) => stage).join()

function mergeStages(base: Stages, mine: Stages, now: Stages): Stages {
  const moved = codesOf(mine) !== codesOf(base)
  return (moved ? mine : now).map(({ stage }) => {
    const [before, own, theirs] = [base, mine, now].map((all) => all.find((one) => one.stage === stage))
    return { ...theirs, ...written(own as Stages[0], before ?? {}) } as Stages[0]
  })
}
