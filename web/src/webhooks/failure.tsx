import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { Link } from '../app/link.ts'
import { useTexts } from '../texts/with-settings.ts'
import { failureOf } from './outcome-text.ts'
import '../settings/settings.css'

/** Why a failing webhook fails, from its newest failed delivery: the service states the reason in English only. */
export function WebhookFailure({ webhook: { id, status } }: { webhook: Schemas['Webhook'] }) {
  const t = useTexts()
  const { data } = useQuery({
    queryKey: ['deliveries', 'failure', id],
    queryFn: ({ signal }) => {
      const query = {
        webhook_id: id,
        status: 'failed' as const,
        details: 'true' as const,
        per_page: 1,
        cursor: 'start',
      }
      return dataOf(api.GET('/api/v1/deliveries', { params: { query }, signal }))
    },
    enabled: status === 'failed',
  })
  const [delivery] = data ?? []
  const cause = delivery && failureOf(delivery, t)
  if (status !== 'failed' || !cause) return null
  return (
    <span className="webhook-failure">
      {t.settings.failure({ cause, n: delivery.attempt_count })}{' '}
      <Link to={`/settings/deliveries/${delivery.id}`}>{t.settings.look_at_it}</Link>
    </span>
  )
}
