import { CheckCircleFillIcon, XCircleFillIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/texts.ts'
import type { Stage } from './stages.ts'
import './stages.css'

/**
 * The mark of a stage: a dot in its colour. Won and lost have icons, because colour alone would not
 * distinguish them.
 */
export function StageMark({ stage }: { stage: Stage }) {
  if (stage === 'won') return <CheckCircleFillIcon size={12} className="stage-sign stage-won" />
  if (stage === 'lost') return <XCircleFillIcon size={12} className="stage-sign stage-lost" />
  return <span className={`stage-mark stage-${stage}`} aria-hidden />
}

/** A stage: mark and name. */
export function StageBadge({ stage }: { stage: Stage }) {
  const t = useTexts()
  return (
    <span className="stage-badge">
      <StageMark stage={stage} />
      {t.deals.stages[stage]}
    </span>
  )
}
