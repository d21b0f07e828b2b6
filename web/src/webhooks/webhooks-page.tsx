import { answerOf, api, type Schemas } from '../api/client.ts'
import { laterDialog } from '../app/contained.tsx'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { SettingsList } from '../settings/settings-list.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { useCreating } from '../ui/list-view.ts'
import type { Column } from '../ui/table.tsx'
import { Ago } from '../ui/values.tsx'
import { eventsOf } from './event-groups.ts'
import { WebhookFailure } from './failure.tsx'
import { WebhookStatus } from './statuses.tsx'
import { webhookName } from './webhooks.ts'

const CreateWebhook = laterDialog(async () => (await import('./create-webhook.tsx')).CreateWebhook)

/** The webhooks of the workspace. */
export function WebhooksPage() {
  const t = useTexts()
  const formats = useFormats()
  const writes = useMay()('webhooks:write')
  const [creating, setCreating] = useCreating()
  const columns: Column<Schemas['Webhook']>[] = [
    { id: 'name', label: t.fields.name, cell: webhookName },
    {
      id: 'status',
      label: t.fields.status,
      phone: true,
      cell: (webhook) => (
        <>
          <WebhookStatus status={webhook.status} /> <WebhookFailure webhook={webhook} />
        </>
      ),
    },
    { id: 'url', label: t.settings.url, cell: ({ url }) => url },
    {
      id: 'events',
      label: t.fields.events,
      number: true,
      cell: ({ events }) =>
        events.includes('*') ? t.settings.every_event : formats.number(eventsOf(events).length),
    },
    {
      id: 'created_at',
      label: t.fields.created_at,
      cell: ({ created_at }) => <Ago at={created_at} />,
    },
  ]
  return (
    <SettingsList
      name="webhooks"
      title={t.settings.pages.webhooks.label}
      read={(query, signal) => answerOf(api.GET('/api/v1/webhooks', { params: { query }, signal }))}
      columns={columns}
      nameOf={webhookName}
      hrefOf={({ id }) => `/settings/webhooks/${id}`}
      empty={t.settings.no_webhooks}
      create_label={t.app.create_webhook}
      onCreate={writes ? () => setCreating(true) : undefined}
      api={{
        method: 'POST',
        path: '/webhooks',
        body: { url: 'https://example.com/hooks/crm', events: ['contact.created', 'deal.won'] },
      }}
    >
      {writes && <CreateWebhook opened={creating} onClose={() => setCreating(false)} />}
    </SettingsList>
  )
}
