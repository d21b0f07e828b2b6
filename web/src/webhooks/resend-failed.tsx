import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { inWords } from '../app/problems.tsx'
import { instantOf } from '../app/zones.ts'
import { useTexts } from '../texts/with-settings.ts'
import { FormDialog } from '../ui/form.tsx'
import { MomentInput } from '../ui/inputs.tsx'
import { Select } from '../ui/select.tsx'
import { showMessage } from '../ui/undo.tsx'
import { useWebhooks, webhookName } from './webhooks.ts'

type Props = { webhook_id?: string | undefined; opened: boolean; onClose: () => void }

/** Resends the failed deliveries of a webhook: all, or those created since a time. */
export function ResendFailed({ webhook_id, opened, onClose }: Props) {
  const t = useTexts()
  const { zone } = useFormats()
  const client = useQueryClient()
  const { data: webhooks } = useWebhooks()
  const required = t.app.field_problems.required
  return (
    <FormDialog
      title={t.settings.resend_failed}
      opened={opened}
      onClose={onClose}
      action={t.settings.resend_failed}
      start={{ webhook_id: webhook_id ?? null, since: null as string | null }}
      check={(values) => ({ ...(!values.webhook_id && { webhook_id: required }) })}
      send={({ webhook_id, since }) => {
        const body = since ? { since: instantOf(since, zone) } : {}
        const params = { path: { webhook_id: webhook_id ?? '' } }
        const resending = api.POST('/api/v1/webhooks/{webhook_id}/resend-failed', { params, body })
        return inWords(dataOf(resending), t.settings.resume_first)
      }}
      onSent={({ count }) => {
        client.invalidateQueries({ queryKey: ['deliveries'] })
        showMessage(t.settings.resent_many({ n: count }))
      }}
    >
      {({ getInputProps }) => (
        <>
          <Text size="sm">{t.settings.resend_failed_text}</Text>
          {!webhook_id && (
            <Select
              label={t.settings.webhook}
              data={webhooks?.map((one) => ({ value: one.id, label: webhookName(one) })) ?? []}
              searchable
              allowDeselect
              {...getInputProps('webhook_id')}
            />
          )}
          <MomentInput
            label={t.settings.since}
            description={t.settings.since_text}
            {...getInputProps('since')}
          />
        </>
      )}
    </FormDialog>
  )
}
