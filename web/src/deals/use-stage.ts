import { useRef, useState } from 'react'
import { showProblem } from '../app/problems.tsx'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { type Deal, moveDeal } from './deals.ts'
import { showMoved } from './moves.ts'
import type { Stage } from './stages.ts'

/**
 * Moves a deal from its page. `shown` is its stage, or the one it is moving to. A loss asks for its reason
 * first.
 */
export function useStage(deal: Deal) {
  const t = useTexts()
  const refresh = useRefreshAfter('deals')
  const [moving_to, setMovingTo] = useState<Stage | null>(null)
  const [asks, setAsks] = useState(false)
  // The result of the latest move. The next move starts from it, and a failed move returns to it.
  const latest = useRef<Promise<Deal> | null>(null)

  async function move(to: Stage, lost_reason?: string) {
    setAsks(false)
    setMovingTo(to)
    const before = latest.current ?? Promise.resolve(deal)
    const moving = before.then((now) => moveDeal(now, to, lost_reason, [now.stage]))
    const result = moving.then(
      (done) => done.deal,
      () => before,
    )
    latest.current = result
    try {
      const moved = await moving
      // Otherwise the person has kept the stage that somebody else chose.
      if (moved.deal.stage === to)
        showMoved(t, moved.deal, async () => {
          await moved.back()
          await refresh()
        })
    } catch (error) {
      showProblem(error, t)
    }
    if (latest.current === result) await refresh()
    if (latest.current !== result) return
    latest.current = null
    setMovingTo(null)
  }
  return {
    shown: moving_to ?? deal.stage,
    choose(to: Stage) {
      if (to === (moving_to ?? deal.stage)) return
      if (to === 'lost') setAsks(true)
      else move(to)
    },
    asks,
    onReason: (reason: string) => move('lost', reason),
    onCancel: () => setAsks(false),
  }
}
