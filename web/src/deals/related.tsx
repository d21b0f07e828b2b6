import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { RecordLink } from '../record/fields/linked.tsx'
import type { Related } from '../record/kinds.ts'
import { RelatedRow } from '../record/page/related.tsx'
import { useTexts } from '../texts/texts.ts'
import { Money } from '../ui/values.tsx'
import type { Deal } from './deals.ts'

const CreateDeal = laterDialog(async () => (await import('./create-deal.tsx')).CreateDeal)

/** The sum of the open deals. */
function Summary({ filters }: { filters: Record<string, number> }) {
  const t = useTexts()
  const formats = useFormats()
  const { data: report } = useQuery({
    queryKey: ['reports', 'pipeline', filters],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/reports/pipeline', { signal, params: { query: filters } })),
    enabled: useMay()('reports:read'),
  })
  return report?.total_open.count
    ? t.record.open_value({ value: formats.sum(report.total_open.value) })
    : null
}

/** A deal's stage and when it is expected to close. */
function Detail({ stage, expected_close_date: date }: Pick<Deal, 'stage' | 'expected_close_date'>) {
  const t = useTexts()
  const formats = useFormats()
  return [t.deals.stages[stage], date && formats.date(date)].filter(Boolean).join(' · ')
}

export const related: Related<'deals'> = {
  row: (deal) => (
    <RelatedRow
      link={<RecordLink kind="deals" id={deal.id} name={deal.name} />}
      detail={<Detail {...deal} />}
      side={<Money value={deal.value} />}
    />
  ),
  Summary,
  Create: CreateDeal,
}
