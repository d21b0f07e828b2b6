import { BriefcaseIcon } from '@primer/octicons-react'
import { useCommands } from '../app/commands.ts'
import { useMay } from '../app/session.ts'
import { fullName } from '../record/choices.ts'
import { RecordLink } from '../record/linked.tsx'
import { RecordLayout } from '../record/record-layout.tsx'
import { ReadRecord } from '../record/record-page.tsx'
import { RelatedActivities } from '../record/related.tsx'
import { Timeline } from '../record/timeline.tsx'
import { useToTrash } from '../record/to-trash.ts'
import { useTexts } from '../texts/texts.ts'
import { DeleteButton } from '../ui/delete-button.tsx'
import { DealFacts } from './deal-facts.tsx'
import { type Deal, dealQuery, deleteDeal, restoreDeal, touched } from './deals.ts'
import { StageHistory } from './stage-history.tsx'
import { StageSteps } from './stage-steps.tsx'

type Props = { id: number; panel?: boolean; onLeave: () => unknown }

/** A deal with all that belongs to it, on its page and beside the list or board. */
export function DealRecord({ id, panel = false, onLeave }: Props) {
  return (
    <ReadRecord query={dealQuery(id)}>
      {(deal) => <KnownDeal deal={deal} panel={panel} onLeave={onLeave} />}
    </ReadRecord>
  )
}

type KnownProps = { deal: Deal } & Required<Pick<Props, 'panel' | 'onLeave'>>

function KnownDeal({ deal, panel, onLeave }: KnownProps) {
  const t = useTexts()
  const toTrash = useToTrash()
  const writes = useMay()('deals:write')
  const { id, name, company, contact } = deal
  // What a new activity of this deal begins with.
  const linked = {
    ...{ deal: { id, name }, company },
    contact: contact && { id: contact.id, name: fullName(contact) },
  }
  const remove = () =>
    toTrash({
      ...{ name, leave: onLeave, refresh: touched },
      remove: () => deleteDeal(id),
      restore: () => restoreDeal(id),
    })
  useCommands(
    writes ? [{ id: 'delete-deal', label: t.deals.delete_deal, group: 'actions', run: remove }] : [],
  )
  return (
    <RecordLayout
      panel={panel}
      editable={writes}
      icon={<BriefcaseIcon size={20} />}
      title={name}
      subtitle={company && <RecordLink kind="companies" {...company} />}
      back={{ to: '/deals', label: t.deals.back_to_deals }}
      actions={writes && <DeleteButton label={t.deals.delete_deal} onDelete={remove} />}
      facts={
        <>
          <div className="steps-place">
            <StageSteps deal={deal} writes={writes} />
          </div>
          <DealFacts deal={deal} writes={writes} />
        </>
      }
      tabs={[
        { id: 'timeline', label: t.app.timeline, content: <Timeline owner="deals" id={id} /> },
        {
          id: 'activities',
          label: t.app.activities,
          content: <RelatedActivities deal_id={id} initial={linked} />,
        },
        { id: 'stages', label: t.deals.history, content: <StageHistory id={id} /> },
      ]}
    />
  )
}
