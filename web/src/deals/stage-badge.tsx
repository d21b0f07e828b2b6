import { CheckCircleFillIcon, XCircleFillIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/texts.ts'
import type { Stage } from './stages.ts'
import './stages.css'

/** The sign of a stage: a dot in its colour; a tick and a cross for the two ends, which colour alone would not tell apart. */
export function StageMark({ stage }: { stage: Stage }) {
  if (stage === 'won') return <CheckCircleFillIcon size={12} className="stage-sign stage-won" />
  if (stage === 'lost') return <XCircleFillIcon size={12} className="stage-sign stage-lost" />
  return <span className={`stage-mark stage-${stage}`} aria-hidden />
}

/** A stage by its sign and its name. */
export function StageBadge({ stage }: { stage: Stage }) {
  const t = useTexts()
  return (
    <span className="stage-badge">
      <StageMark stage={stage} />
      {t.deals.stages[stage]}
    </span>
  )
}
