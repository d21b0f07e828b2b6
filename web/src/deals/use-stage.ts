import { useState } from 'react'
import { tellProblem } from '../app/problems.tsx'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { offerUndo } from '../ui/undo.tsx'
import { type Deal, moveDeal, touched } from './deals.ts'
import { isOpen, type Stage } from './stages.ts'

/** Moves one deal from its page: `shown` is where it is or is going; a loss asks for its reason first. */
export function useStage(deal: Pick<Deal, 'id' | 'name' | 'stage' | 'probability'>) {
  const t = useTexts()
  const refresh = useRefresh()
  const [going, setGoing] = useState<Stage | null>(null)
  const [asks, setAsks] = useState(false)

  async function go(to: Stage, lost_reason?: string) {
    setAsks(false)
    setGoing(to)
    try {
      const { back } = await moveDeal(deal, to, lost_reason)
      const { name } = deal
      const told = isOpen(to) ? t.deals.moved(name, t.deals.stages[to]) : t.deals[to as 'won'](name)
      offerUndo(t, told, async () => {
        await back()
        await refresh(...touched)
      })
    } catch (error) {
      tellProblem(error, t)
    }
    await refresh(...touched)
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
