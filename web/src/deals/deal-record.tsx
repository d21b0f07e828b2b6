import { BriefcaseIcon } from '@primer/octicons-react'
import { RecordLink } from '../record/fields/linked.tsx'
import type { RecordProps } from '../record/kinds.ts'
import { RecordView } from '../record/page/record-view.tsx'
import { useTexts } from '../texts/texts.ts'
import { fullName } from '../ui/full-name.ts'
import { DealFacts } from './deal-facts.tsx'
import { Glance } from './glance.tsx'
import { ReachPeople } from './reach-people.tsx'
import { StageHistory } from './stage-history.tsx'
import { StageSteps } from './stage-steps.tsx'

/** A deal with all that belongs to it, on its page and beside the list or board. */
export function DealRecord(props: RecordProps) {
  const t = useTexts()
  return (
    <RecordView kind="deals" {...props}>
      {(deal, save) => {
        const { id, company, contact } = deal
        return {
          icon: <BriefcaseIcon size={20} />,
          subtitle: company && <RecordLink kind="companies" {...company} />,
          actions: <ReachPeople deal={deal} />,
          glance: <Glance kind="deals" record={deal} />,
          facts: (
            <>
              <div className="steps-place">
                <StageSteps deal={deal} writes={save !== undefined} />
              </div>
              <DealFacts deal={deal} save={save} />
            </>
          ),
          linked: { company, contact: contact && { id: contact.id, name: fullName(contact) } },
          last_tabs: [{ id: 'stages', label: t.deals.history, content: <StageHistory id={id} /> }],
        }
      }}
    </RecordView>
  )
}
