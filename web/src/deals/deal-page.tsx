import { ActionIcon, Tooltip } from '@mantine/core'
import { BriefcaseIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Problem } from '../api/client.ts'
import { useCommands } from '../app/commands.ts'
import { NotFound } from '../app/places.tsx'
import { ProblemNote } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { fullName } from '../record/choices.ts'
import { RecordLink } from '../record/linked.tsx'
import { AwaitedRecord, RecordLayout } from '../record/record-layout.tsx'
import { RelatedActivities } from '../record/related.tsx'
import { Timeline } from '../record/timeline.tsx'
import { useToTrash } from '../record/to-trash.ts'
import { useTexts } from '../texts/texts.ts'
import type { ListView } from '../ui/list-view.ts'
import { SidePanel } from '../ui/panel.tsx'
import { DealFacts } from './deal-facts.tsx'
import { type Deal, dealQuery, deleteDeal, restoreDeal, touched } from './deals.ts'
import { StageHistory } from './stage-history.tsx'
import { StageSteps } from './stage-steps.tsx'

const is_id = /^[1-9]\d{0,14}$/

/** The page of a deal. */
export function DealPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const navigate = useNavigate()
  if (!is_id.test(id)) return <NotFound />
  return <DealRecord key={id} id={Number(id)} onLeave={() => navigate({ to: '/deals' })} />
}

/** The deal that the address names as open, beside the list or board. */
export function DealBeside({ view }: { view: ListView }) {
  const t = useTexts()
  const { open, setOpen } = view
  const close = useCallback(async () => {
    await setOpen(null)
    // The card or row that was looked at.
    document
      .querySelector<HTMLElement>(`[data-deal="${open}"] .card-link, [data-row-id="${open}"] a`)
      ?.focus()
  }, [setOpen, open])
  if (!open || !is_id.test(open)) return null
  return (
    <SidePanel label={t.deals.deal} href={`/deals/${open}`} onClose={close}>
      <DealRecord key={open} id={Number(open)} panel onLeave={close} />
    </SidePanel>
  )
}

type Props = { id: number; panel?: boolean; onLeave: () => unknown }

function DealRecord({ id, panel = false, onLeave }: Props) {
  const { data: deal, error, refetch } = useQuery(dealQuery(id))
  if (error instanceof Problem && error.status === 404) return <NotFound />
  if (error && !deal) return <ProblemNote error={error} onRetry={() => refetch()} />
  return deal ? <ShownDeal deal={deal} panel={panel} onLeave={onLeave} /> : <AwaitedRecord />
}

type ShownProps = { deal: Deal; panel: boolean; onLeave: () => unknown }

function ShownDeal({ deal, panel, onLeave }: ShownProps) {
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
      actions={
        writes && (
          <Tooltip label={t.deals.delete_deal}>
            <ActionIcon variant="default" size={30} aria-label={t.deals.delete_deal} onClick={remove}>
              <TrashIcon />
            </ActionIcon>
          </Tooltip>
        )
      }
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
