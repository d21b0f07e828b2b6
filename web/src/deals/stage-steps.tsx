import { laterDialog } from '../app/contained.tsx'
import { useTexts } from '../texts/texts.ts'
import type { Deal } from './deals.ts'
import { StageBadge, StageMark } from './stage-badge.tsx'
import { isOpen, open_stages, type Stage } from './stages.ts'
import { useStage } from './use-stage.ts'
import './stages.css'
import './stage-steps.css'

const LostReasonDialog = laterDialog(async () => (await import('./lost-reason-dialog.tsx')).LostReasonDialog)

type Props = {
  deal: Deal
  /** Whether the reader may move it. */
  writes: boolean
}

/** The six open stages as steps, and the two final ones. A click moves the deal. */
export function StageSteps({ deal, writes }: Props) {
  const t = useTexts()
  const { shown, choose, asks, onReason, onCancel } = useStage(deal)
  const at = isOpen(shown) ? open_stages.indexOf(shown) : shown === 'won' ? open_stages.length : -1
  const step = (stage: Stage, passed: boolean) => (
    <button
      type="button"
      className={`step stage-${stage}`}
      data-passed={passed || undefined}
      disabled={!writes}
      aria-current={stage === shown ? 'step' : undefined}
      title={t.deals.stages[stage]}
      onClick={() => choose(stage)}
    >
      {isOpen(stage) ? <span className="step-bar" /> : <StageMark stage={stage} />}
      <span className="step-name one-line">{t.deals.stages[stage]}</span>
    </button>
  )
  return (
    <>
      <ol className="steps" aria-label={t.fields.stage}>
        {open_stages.map((stage, index) => (
          <li key={stage}>{step(stage, index <= at)}</li>
        ))}
        <li className="steps-now" aria-hidden>
          {isOpen(shown) && <StageBadge stage={shown} />}
        </li>
        <li className="step-end">{step('won', false)}</li>
        <li className="step-end">{step('lost', false)}</li>
      </ol>
      <LostReasonDialog
        opened={asks}
        question={t.deals.why_lost({ name: deal.name })}
        onReason={onReason}
        onClose={onCancel}
      />
    </>
  )
}
