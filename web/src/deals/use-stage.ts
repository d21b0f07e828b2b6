import { useRef, useState } from 'react'
import { tellProblem } from '../app/problems.tsx'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { type Deal, moveDeal } from './deals.ts'
import { tellMoved } from './moves.ts'
import type { Stage } from './stages.ts'

/** Moves one deal from its page: `shown` is where it is or is going; a loss asks for its reason first. */
export function useStage(deal: Deal) {
  const t = useTexts()
  const refresh = useRefreshAfter('deals')
  const [going, setGoing] = useState<Stage | null>(null)
  const [asks, setAsks] = useState(false)
  // Where the moves that are on their way take the deal: each begins where the one before ended, and goes back there.
  const latest = useRef<Promise<Deal> | null>(null)

  async function go(to: Stage, lost_reason?: string) {
    setAsks(false)
    setGoing(to)
    const before = latest.current ?? Promise.resolve(deal)
    const moving = before.then((now) => moveDeal(now, to, lost_reason))
    const mine = moving.then(
      (done) => done.deal,
      () => before,
    )
    latest.current = mine
    try {
      const moved = await moving
      tellMoved(t, moved.deal, async () => {
        await moved.back()
        await refresh()
      })
    } catch (error) {
      tellProblem(error, t)
    }
    if (latest.current === mine) await refresh()
    if (latest.current !== mine) return
    latest.current = null
    setGoing(null)
  }
  return {
    shown: going ?? deal.stage,
    choose(to: Stage) {
      if (to === (going ?? deal.stage)) return
      if (to === 'lost') setAsks(true)
      else go(to)
    },
    asks,
    onReason: (reason: string) => go('lost', reason),
    onCancel: () => setAsks(false),
  }
}
