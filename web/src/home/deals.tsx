import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { QueryOf } from '../api/record-api.ts'
import type { Search } from '../app/addresses.ts'
import { laterDialog } from '../app/contained.tsx'
import { Link } from '../app/link.ts'
import { useMay } from '../app/session.ts'
import type { Deal } from '../deals/deals.ts'
import { DaysInStage, NextStep } from '../deals/progress.tsx'
import { StageMark } from '../deals/stage-badge.tsx'
import { open_stages, staleAfter } from '../deals/stages.ts'
import { useTexts } from '../texts/texts.ts'
import { Money } from '../ui/values.tsx'
import { Card } from './card.tsx'
import { dealsToMoveQuery } from './queries.ts'
import { open_of_mine, standing_still, without_step } from './requests.ts'

const CreateActivity = laterDialog(
  async () => (await import('../activities/create-activity.tsx')).CreateActivity,
)

/** The open deals of the person that need a step: without a next activity, or for long in one stage. */
export function DealsToMove() {
  const { home, deals } = useTexts()
  const may_plan = useMay()('activities:write')
  const [planned, setPlanned] = useState<Deal | null>(null)
  const limits = new Set(open_stages.map(staleAfter))
  return (
    <>
      <DealList
        area="unplanned"
        title={home.no_next_step}
        filter={without_step}
        none={home.all_planned}
        side={(deal) => (
          <>
            <DaysInStage deal={deal} />
            {may_plan && (
              <Button
                variant="default"
                size="compact-xs"
                aria-label={deals.plan_next_step({ name: deal.name })}
                onClick={() => setPlanned(deal)}
              >
                {home.plan}
              </Button>
            )}
          </>
        )}
      />
      <DealList
        area="still"
        title={home.standing_still}
        beside={home.standing_still_hint({ days: limits.size === 1 ? Math.max(...limits) : 0 })}
        filter={standing_still}
        none={home.none_still}
        side={(deal) => <DaysInStage deal={deal} />}
        below={(deal) => <NextStep deal={deal} />}
      />
      {planned && (
        <CreateActivity
          opened
          onClose={() => setPlanned(null)}
          initial={{ deal: { id: planned.id, name: planned.name }, ...linkedOf(planned) }}
        />
      )}
    </>
  )
}

const linkedOf = ({ company }: Deal) => (company ? { company } : {})

type Props = {
  area: string
  title: string
  beside?: string
  filter: QueryOf<'deals'> & Search<'/deals'>
  /** The text without deals. */
  none: string
  side: (deal: Deal) => ReactNode
  below?: (deal: Deal) => ReactNode
}

function DealList({ area, title, beside, filter, none, side, below }: Props) {
  const { home } = useTexts()
  const { data, error, refetch } = useQuery(dealsToMoveQuery(filter))
  return (
    <Card
      title={title}
      area={area}
      waiting={!data}
      error={error}
      onRetry={refetch}
      beside={beside}
      more={{ to: '/deals', search: { view: 'table', ...open_of_mine, ...filter }, label: home.all_deals }}
    >
      {data?.data.length === 0 && <p className="hint">{none}</p>}
      <ul>
        {data?.data.map((deal) => (
          <li key={deal.id} className="home-row">
            <StageMark stage={deal.stage} />
            <span className="home-row-two">
              <Link to={`/deals/${deal.id}`} className="home-row-name">
                {deal.name}
              </Link>
              <span className="hint home-row-below">
                {deal.company && <span className="one-line">{deal.company.name}</span>}
                {below?.(deal)}
              </span>
            </span>
            <Money value={deal.value} whole />
            {side(deal)}
          </li>
        ))}
      </ul>
    </Card>
  )
}
