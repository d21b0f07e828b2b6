import { BriefcaseIcon } from '@primer/octicons-react'
import { recordApi } from '../api/record-api.ts'
import type { Kind } from '../record/kinds.ts'
import { fullName } from '../ui/full-name.ts'
import { Money } from '../ui/values.tsx'
import { visible } from '../ui/visible.ts'
import { CloseDate } from './close-date.tsx'
import { StageBadge } from './stage-badge.tsx'

export const dealsApi = recordApi('deals')

export const deals = {
  kind: 'deals',
  noun: 'deal',
  path: '/deals',
  icon: BriefcaseIcon,
  keys: 'g d',
  creates: true,
  owned: true,
  matches: ['name'],
  timeline: true,
  events: ['deal.created', 'deal.updated', 'deal.stage_changed', 'deal.won', 'deal.lost', 'deal.deleted'],
  amounts: ['value'],
  stale: ['contacts', 'companies', 'activities', 'reports'],
  nameOf: ({ name }) => visible(name),
  lines: (deal) => [
    <StageBadge key="stage" stage={deal.stage} />,
    deal.value !== null && <Money key="value" value={deal.value} />,
    deal.expected_close_date && <CloseDate key="close" deal={deal} />,
    [deal.company?.name, deal.contact && fullName(deal.contact)].filter(Boolean).join(' · '),
  ],
  timelineEntry: ({ stage, value }, t) => ({
    label: t.record.deal_opened,
    facts: [
      <>
        {t.deals.stages[stage]}
        {value !== null && ', '}
        <Money value={value} />
      </>,
    ],
  }),
  found: (stage, t) => t.deals.stages[stage as keyof typeof t.deals.stages],
  async search(words, per_page, t, signal) {
    const { data } = await dealsApi.list(
      words ? { search: words, sort: 'name', per_page } : { per_page },
      signal,
    )
    return data.map(({ id, name, stage }) => ({ id, name, detail: t.deals.stages[stage] }))
  },
  list: async () => (await import('./deals-page.tsx')).DealsPage,
  loadView: async (address) => (await import('./deals-page.tsx')).loadView(address),
  firstRows: async (client) => (await import('./board-page.tsx')).readBoard(client),
  record: async () => (await import('./deal-record.tsx')).DealRecord,
  related: {
    to: ['contacts', 'companies'],
    header: ['contacts', 'companies'],
    address: { view: 'table' },
    load: async () => (await import('./related.tsx')).related,
  },
} as const satisfies Kind<'deals'>
