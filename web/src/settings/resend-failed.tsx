import { Select, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { inWords } from '../app/problems.tsx'
import { instantOf } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { tell } from '../ui/undo.tsx'
import { useWebhooks, webhookName } from './webhooks.ts'

type Props = { webhook_id?: string | undefined; opened: boolean; onClose: () => void }

/** Sends what has failed once more: of one webhook, all or what was created since a time. */
export function ResendFailed({ webhook_id, opened, onClose }: Props) {
  const t = useTexts()
  const { zone } = useFormats()
  const client = useQueryClient()
  const { data: webhooks } = useWebhooks()
  const [chosen, setChosen] = useState<string | null>(null)
  const { form, submit, sending, problem } = useRecordForm({ since: '' })
  const of = webhook_id ?? chosen
  const send = () =>
    submit(async ({ since }) => {
      if (!of) return
      const body = since ? { since: instantOf(since, zone) } : {}
      const path = { webhook_id: of }
      const resending = api.POST('/api/v1/webhooks/{webhook_id}/resend-failed', { params: { path }, body })
      const { count } = await inWords(dataOf(resending), t.settings.resume_first)
      client.invalidateQueries({ queryKey: ['deliveries'] })
      onClose()
      tell(t.settings.resent_many(count))
    })
  return (
    <FormDialog
      title={t.settings.resend_failed}
      opened={opened}
      onClose={onClose}
      action={t.settings.resend_failed}
      sending={sending}
      problem={problem}
      onSubmit={send}
    >
      <Text size="sm" mb="md">
        {t.settings.resend_failed_text}
      </Text>
      {!webhook_id && (
        <Select
          label={t.settings.webhook}
          data={webhooks?.map((one) => ({ value: one.id, label: webhookName(one) })) ?? []}
          value={chosen}
          onChange={setChosen}
          searchable
          mb="md"
          data-autofocus
        />
      )}
      <TextInput
        label={t.settings.since}
        description={t.settings.since_text}
        type="datetime-local"
        {...form.getInputProps('since')}
      />
    </FormDialog>
  )
}
