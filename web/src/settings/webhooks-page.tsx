import { Button, Tooltip } from '@mantine/core'
import { answerOf, api, type Schemas } from '../api/client.ts'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { useMay } from '../app/session.ts'
import { useTexts } from '../texts/texts.ts'
import { Empty } from '../ui/empty.tsx'
import { ListTable, useListPage } from '../ui/list-page.tsx'
import { useCreating, useListView } from '../ui/list-view.ts'
import type { Column } from '../ui/table.tsx'
import { Ago } from '../ui/values.tsx'
import { CreateWebhook } from './create-webhook.tsx'
import { SettingsFrame } from './settings-frame.tsx'
import { WebhookStatus } from './statuses.tsx'
import { webhookName } from './webhooks.ts'

/** The webhooks of the workspace. */
export function WebhooksPage() {
  const t = useTexts()
  const formats = useFormats()
  const writes = useMay()('webhooks:write')
  const [creating, setCreating] = useCreating()
  const view = useListView()
  const query = { page: view.page, per_page: 50 }
  const page = useListPage(
    {
      queryKey: ['webhooks', 'list', query],
      queryFn: () => answerOf(api.GET('/api/v1/webhooks', { params: { query } })),
    },
    view,
  )
  useCommands(
    writes
      ? [
          {
            ...{
              id: 'create-webhook',
              label: t.settings.create_webhook,
              group: 'create' as const,
              keys: 'c',
            },
            run: () => setCreating(true),
          },
        ]
      : [],
  )
  const columns: Column<Schemas['Webhook']>[] = [
    { id: 'name', label: t.settings.name, cell: webhookName },
    {
      ...{ id: 'status', label: t.settings.status, phone: true },
      cell: ({ status, status_reason }) => (
        <Tooltip label={status_reason} disabled={!status_reason} multiline maw={320}>
          <span>
            <WebhookStatus status={status} />
            {status_reason && <span className="settings-soft"> {status_reason}</span>}
          </span>
        </Tooltip>
      ),
    },
    { id: 'url', label: t.settings.url, cell: ({ url }) => url },
    {
      ...{ id: 'events', label: t.settings.events, number: true },
      cell: ({ events }) => formats.number(events.length),
    },
    { id: 'created_at', label: t.app.created_at, cell: ({ created_at }) => <Ago at={created_at} /> },
  ]
  const create = writes ? () => setCreating(true) : undefined
  return (
    <SettingsFrame
      title={t.settings.pages.webhooks.label}
      count={page.meta?.total}
      whole
      actions={create && <Button onClick={create}>{t.settings.create_webhook}</Button>}
      api={{
        ...{ method: 'POST', path: '/webhooks' },
        body: { url: 'https://example.com/hooks/crm', events: ['contact.created', 'deal.won'] },
      }}
    >
      <div className="settings-table">
        <ListTable
          label={t.settings.pages.webhooks.label}
          columns={columns}
          page={page}
          nameOf={webhookName}
          hrefOf={({ id }) => `/settings/webhooks/${id}`}
          empty={
            <Empty
              text={t.settings.no_webhooks}
              {...(create && { action: t.settings.create_webhook, onAction: create })}
            />
          }
        />
      </div>
      {writes && <CreateWebhook opened={creating} onClose={() => setCreating(false)} />}
    </SettingsFrame>
  )
}
