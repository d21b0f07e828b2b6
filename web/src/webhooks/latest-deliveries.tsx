import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { Soft } from '../ui/values.tsx'
import { Countdown } from './countdown.tsx'
import { failureOf } from './outcome-text.ts'
import { DeliveryStatus } from './statuses.tsx'

/** The latest deliveries of a webhook, live. */
export function LatestDeliveries({ webhook_id }: { webhook_id: string }) {
  const t = useTexts()
  const formats = useFormats()
  const query = { webhook_id, per_page: 8, cursor: 'start', details: 'true' as const }
  const { data, error, refetch } = useQuery({
    queryKey: ['deliveries', 'latest', webhook_id],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/deliveries', { signal, params: { query } })),
    refetchInterval: 2000,
  })
  if (error && !data) return <ProblemNote error={error} onRetry={refetch} />
  if (!data)
    return (
      <Stack gap="sm">
        <Skeleton h={20} />
        <Skeleton h={20} />
      </Stack>
    )
  if (!data.length) return <Soft>{t.settings.no_deliveries_yet}</Soft>
  return (
    <ul>
      {data.map((delivery) => {
        const { id, event, status, created_at, next_attempt_at } = delivery
        return (
          <li key={id} className="settings-row">
            <Link to={`/settings/deliveries/${id}`}>
              <code>{event}</code>
            </Link>
            {status === 'pending' && next_attempt_at && (
              <span className="soft">
                <Countdown at={next_attempt_at} />
              </span>
            )}
            <DeliveryStatus status={status} failure={failureOf(delivery, t)} />
            <time dateTime={created_at} title={formats.exact(created_at)} className="numbers soft">
              {formats.moment(created_at)}
            </time>
          </li>
        )
      })}
    </ul>
  )
}
