import { Alert, Button, Stack, TextInput } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answerOf, api, dataOf, isGone, type Schemas } from '../api/client.ts'
import { laterDialog } from '../app/contained.tsx'
import { Waiting } from '../app/fallback-pages.tsx'
import { useFormats } from '../app/formats.ts'
import { useIdle } from '../app/idle.ts'
import { late } from '../app/late.ts'
import { Link, useNavigate } from '../app/link.ts'
import { ProblemNote, showProblem } from '../app/problems.tsx'
import { useMay } from '../app/session.ts'
import { Ask } from '../settings/ask.tsx'
import { SavedForm } from '../settings/saved-form.tsx'
import { Section } from '../settings/section.tsx'
import { SettingsFrame } from '../settings/settings-frame.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { Menu } from '../ui/floating.tsx'
import { oneClick } from '../ui/one-press.ts'
import { showMessage } from '../ui/undo.tsx'
import { WebhookStatus } from './statuses.tsx'
import { WebhookFields } from './webhook-fields.tsx'
import { bodyOf, nested_fields, valuesOf } from './webhook-values.ts'
import { webhookName } from './webhooks.ts'

// Below the first screen.
const below = <div style={{ height: 480 }} />
const TestWebhook = late(async () => (await import('./test-webhook.tsx')).TestWebhook)
const WebhookBackfill = late(async () => (await import('./backfill.tsx')).WebhookBackfill, below)
const WebhookFailure = late(async () => (await import('./failure.tsx')).WebhookFailure)
const LatestDeliveries = late(async () => (await import('./latest-deliveries.tsx')).LatestDeliveries)
const RotateSecret = laterDialog(async () => (await import('./rotate-secret.tsx')).RotateSecret)
const ResendFailed = laterDialog(async () => (await import('./resend-failed.tsx')).ResendFailed)

type Webhook = Schemas['Webhook']

/** A webhook: its settings, its actions, and its latest deliveries. */
export function WebhookPage() {
  const t = useTexts()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  // A deleted webhook cannot be read, but a poll or the change stream would try.
  const [deleting, setDeleting] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/webhooks/{webhook_id}', { signal, params: { path: { webhook_id: id } } })),
    // The status also changes without an action, when a receiver fails or recovers.
    refetchInterval: ({ state }) => (isGone(state.error) ? false : 5000),
    enabled: !deleting,
  })
  if (error && (!data || isGone(error)))
    return (
      <SettingsFrame title={t.settings.webhook}>
        <ProblemNote error={error} onRetry={refetch} />
      </SettingsFrame>
    )
  if (!data) return <Waiting />
  return <OneWebhook key={id} webhook={data} deleting={deleting} onDeleting={setDeleting} />
}

type Props = { webhook: Webhook; deleting: boolean; onDeleting: (deleting: boolean) => void }

function OneWebhook({ webhook, deleting, onDeleting }: Props) {
  const t = useTexts()
  const formats = useFormats()
  const client = useQueryClient()
  const navigate = useNavigate()
  const writes = useMay()('webhooks:write')
  const idle = useIdle()
  const [dialog, setDialog] = useState<'rotate' | 'resend' | 'delete' | null>(null)
  const { id, url, status, rotation_ends_at } = webhook
  const params = { params: { path: { webhook_id: id } } }
  const close = () => setDialog(null)
  const keep = (changed: Webhook) => {
    client.setQueryData(['webhooks', id], changed)
    client.invalidateQueries({ queryKey: ['webhooks'] })
  }
  async function turn() {
    const paused = status === 'paused'
    try {
      const asked = paused
        ? api.POST('/api/v1/webhooks/{webhook_id}/resume', { ...params, body: {} })
        : api.POST('/api/v1/webhooks/{webhook_id}/pause', { ...params, body: {} })
      keep(await dataOf(asked))
      showMessage(paused ? t.settings.resumed : t.settings.paused)
    } catch (error) {
      showProblem(error, t)
    }
  }
  async function remove() {
    onDeleting(true)
    await client.cancelQueries({ queryKey: ['webhooks', id] })
    try {
      await answerOf(api.DELETE('/api/v1/webhooks/{webhook_id}', params))
    } catch (error) {
      onDeleting(false)
      throw error
    }
    await navigate({ to: '/settings/webhooks' })
    client.invalidateQueries({ queryKey: ['webhooks'] })
  }
  return (
    <SettingsFrame
      title={webhookName(webhook)}
      middle={<WebhookStatus status={status} />}
      actions={
        writes && (
          <>
            <Button variant="default" onClick={oneClick(turn)}>
              {status === 'paused' ? t.settings.resume : t.settings.pause}
            </Button>
            <Menu position="bottom-end">
              <Menu.Target>
                <Button variant="default" aria-label={t.app.more} px="xs">
                  <KebabHorizontalIcon />
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => setDialog('resend')}>{t.settings.resend_failed}…</Menu.Item>
                <Menu.Item onClick={() => setDialog('rotate')}>{t.settings.rotate}…</Menu.Item>
                <Menu.Divider />
                <Menu.Item color="red" onClick={() => setDialog('delete')}>
                  {t.settings.delete_webhook}…
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
        )
      }
      api={{ method: 'PUT', path: `/webhooks/${id}`, body: { url, events: webhook.events } }}
    >
      {status === 'failed' && (
        <Alert color="red" variant="light" title={t.settings.failed_title} mb="md" fz="sm">
          <WebhookFailure webhook={webhook} /> {t.settings.failed_text}
        </Alert>
      )}
      {status === 'paused' && (
        <Alert
          color="yellow"
          variant="light"
          title={t.settings.paused_title}
          // The yellow is too pale for a text.
          styles={{ title: { color: 'var(--text)' } }}
          mb="md"
          fz="sm"
        >
          {t.settings.paused_text}
        </Alert>
      )}
      {rotation_ends_at && Date.parse(rotation_ends_at) > Date.now() && (
        <Alert color="blue" variant="light" title={t.settings.rotating_title} mb="md" fz="sm">
          {t.settings.rotating_text({ until: formats.moment(rotation_ends_at) })}
        </Alert>
      )}
      <Edit webhook={webhook} writes={writes} onSaved={keep} />
      {idle ? (
        <>
          {writes && <TestWebhook webhook_id={id} />}
          <WebhookBackfill webhook_id={id} paused={status === 'paused'} writes={writes} deleting={deleting} />
        </>
      ) : (
        below
      )}
      <Section
        title={t.settings.latest_deliveries}
        beside={
          <Button component={Link} to="/settings/deliveries" search={{ webhook_id: id }} variant="subtle">
            {t.settings.pages.deliveries.label}
          </Button>
        }
      >
        {idle && <LatestDeliveries webhook_id={id} />}
      </Section>
      <RotateSecret webhook_id={id} opened={dialog === 'rotate'} onClose={close} onRotated={keep} />
      <ResendFailed webhook_id={id} opened={dialog === 'resend'} onClose={close} />
      <Ask
        title={t.settings.delete_webhook}
        text={t.settings.delete_webhook_text}
        action={t.settings.delete_webhook}
        opened={dialog === 'delete'}
        onClose={close}
        onDo={remove}
      />
    </SettingsFrame>
  )
}

type EditProps = { webhook: Webhook; writes: boolean; onSaved: (webhook: Webhook) => void }

function Edit({ webhook, writes, onSaved }: EditProps) {
  const t = useTexts()
  const path = { webhook_id: webhook.id }
  return (
    <SavedForm
      className="settings-section"
      saved={valuesOf(webhook)}
      nested={nested_fields}
      writes={writes}
      send={async (changes) => {
        const body = bodyOf(changes)
        onSaved(await dataOf(api.PUT('/api/v1/webhooks/{webhook_id}', { params: { path }, body })))
      }}
    >
      {({ values, errors, setFieldValue, getInputProps }) => (
        <Stack gap="md">
          <TextInput maw={560} label={t.settings.url} type="url" {...getInputProps('url')} />
          <TextInput maw={560} label={t.fields.name} {...getInputProps('name')} />
          <WebhookFields values={values} errors={errors} put={setFieldValue} />
        </Stack>
      )}
    </SavedForm>
  )
}
