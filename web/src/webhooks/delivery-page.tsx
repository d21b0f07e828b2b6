import { Button } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { Waiting } from '../app/fallback-pages.tsx'
import { Link } from '../app/link.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { ByApi } from '../ui/by-api.tsx'
import { useAddress } from '../ui/list-view.ts'
import { Page } from '../ui/page.tsx'
import { DeliveryView, Resend, ResendStatus, useDelivery } from './delivery-view.tsx'
import { useWebhooks } from './webhooks.ts'
import '../settings/settings.css'

/** A delivery: its attempts with requests and responses. */
export function DeliveryPage() {
  const t = useTexts()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const { address, change } = useAddress()
  const { data, error, refetch } = useDelivery(id)
  const named = useWebhooks()
  if (error && !data)
    return (
      <Page title={t.settings.delivery}>
        <div className="padded">
          <ProblemNote error={error} onRetry={refetch} />
          <Button component={Link} to="/settings/deliveries" variant="default">
            {t.settings.pages.deliveries.label}
          </Button>
        </div>
      </Page>
    )
  // The name of the webhook would move the facts beside it.
  if (!data || named.isLoading) return <Waiting />
  return (
    <Page
      title={data.event}
      middle={<ResendStatus delivery={data} />}
      actions={
        <>
          <Button component={Link} to="/settings/deliveries" variant="default">
            {t.settings.pages.deliveries.label}
          </Button>
          <Resend delivery={data} />
        </>
      }
    >
      <div className="delivery-page">
        <DeliveryView
          delivery={data}
          chosen={Number(address.attempt) || null}
          onChoose={(number) => change({ attempt: number === null ? null : String(number) }, true)}
        />
        <ByApi method="POST" path={`/deliveries/${id}/resend`} />
      </div>
    </Page>
  )
}
