import { Type } from 'typebox'
import { defineEvent, exampleOf, standardEvents } from '../../events/define.ts'
import { Deal, StageCode } from './schema.ts'

const example = {
  ...(exampleOf(Deal) as object),
  id: 12,
  name: 'Website relaunch',
  value: 12500.5,
  probability: 60,
  stage: 'proposal',
  contact_id: 3,
  company_id: 7,
  expected_close_date: '2026-12-31',
  status: 'open',
  priority: 'high',
  source: 'website',
  lost_reason: null,
  closed_at: null,
  created_at: '2026-11-21T08:30:00.000Z',
  updated_at: '2026-11-21T08:30:00.000Z',
  contact: { id: 3, first_name: 'Ada', last_name: 'Okafor' },
  company: { id: 7, name: 'Acme Inc.' },
}
const closed_at = '2026-11-21T08:30:00.000Z'
const lost = { ...example, stage: 'lost', status: 'lost', probability: 0, lost_reason: 'Price', closed_at }

// The contract specifies the keys of these two events and no others.
const { id, name, value, contact_id, company_id, stage } = Deal.properties
const WonDeal = Type.Object({
  id,
  name,
  value,
  contact_id,
  company_id,
  stage,
  closed_at: Deal.properties.closed_at,
})
const ChangedStage = Type.Object({ id, name, previous_stage: StageCode(), new_stage: StageCode(), value })

export const [dealCreated, dealUpdated, dealDeleted] = standardEvents('deal', Deal, example)
export const dealStageChanged = defineEvent(
  'deal.stage_changed',
  'A deal moved to another stage.',
  ChangedStage,
  {
    id: 12,
    name: 'Website relaunch',
    previous_stage: 'demo',
    new_stage: 'proposal',
    value: 12500.5,
  },
)
export const dealWon = defineEvent('deal.won', 'A deal entered the stage won.', WonDeal, {
  id: 12,
  name: 'Website relaunch',
  value: 12500.5,
  contact_id: 3,
  company_id: 7,
  stage: 'won',
  closed_at,
})
export const dealLost = defineEvent('deal.lost', 'A deal entered the stage lost.', Deal, lost)
