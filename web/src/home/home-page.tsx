import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { useRest } from '../ui/drawn.ts'
import { Page } from '../ui/page.tsx'
import { NextAppointments } from './appointments.tsx'
import { HomeShown } from './card.tsx'
import { DealsToMove } from './deals.tsx'
import { LatestEvents } from './events.tsx'
import { Figures } from './figures.tsx'
import { FirstSteps, useBeginnings } from './first-steps.tsx'
import { OutcomesChart } from './outcomes-chart.tsx'
import { PipelineChart } from './pipeline-chart.tsx'

export { firstReads } from './first-reads.ts'
export { readHome } from './queries.ts'

import { useOutcomes, usePipelineReport } from './reports.ts'
import { Tasks } from './tasks.tsx'
import './home.css'

/** The plan of the day, then figures, charts and events; in an empty workspace, the first steps. */
export function HomePage() {
  const t = useTexts()
  const may = useMay()
  const beginnings = useBeginnings()
  const { contacts, deals } = beginnings
  const pipeline = usePipelineReport()
  const outcomes = useOutcomes()
  const empty = contacts === 0 && deals === 0
  const begins = contacts === 0 || deals === 0
  const rest = useRest(!beginnings.awaited)
  return (
    <HomeShown value={!beginnings.awaited}>
      <Page title={t.app.home}>
        {/* The layout depends on whether there are records. Until then, the cards read their data unseen. */}
        <div
          className="home"
          data-empty={empty || undefined}
          data-awaited={beginnings.awaited || undefined}
          aria-busy={beginnings.awaited}
        >
          {begins && <FirstSteps {...beginnings} />}
          {may('activities:read') && <Tasks />}
          {may('appointments:read') && <NextAppointments />}
          {may('deals:read') && <DealsToMove />}
          {may('reports:read') && !empty && (
            <>
              <Figures pipeline={pipeline} outcomes={outcomes} />
              {rest && <PipelineChart />}
              {rest && <OutcomesChart />}
            </>
          )}
          {rest && may('events:read') && <LatestEvents />}
        </div>
      </Page>
    </HomeShown>
  )
}
