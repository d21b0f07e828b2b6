import { NumberInput, Text } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { ShownOnceDialog } from './shown-once-dialog.tsx'

type Props = {
  webhook_id: string
  opened: boolean
  onClose: () => void
  onRotated: (webhook: Schemas['Webhook']) => void
}

/** A new secret; the old one still signs for some hours, so that the receiver can change over without a gap. */
export function RotateSecret({ webhook_id, opened, onClose, onRotated }: Props) {
  const t = useTexts()
  const [secret, setSecret] = useState<string | null>(null)
  const { form, submit, sending, problem } = useRecordForm({ overlap_hours: 24 })
  const rotate = () =>
    submit(async (body) => {
      const path = { webhook_id }
      const { secret, ...webhook } = await dataOf(
        api.POST('/api/v1/webhooks/{webhook_id}/rotate-secret', { params: { path }, body }),
      )
      onRotated(webhook)
      onClose()
      setSecret(secret)
    })
  return (
    <>
      <FormDialog
        title={t.settings.rotate}
        opened={opened}
        onClose={onClose}
        action={t.settings.rotate}
        sending={sending}
        problem={problem}
        onSubmit={rotate}
      >
        <Text size="sm" mb="md">
          {t.settings.rotate_text}
        </Text>
        <NumberInput
          label={t.settings.overlap}
          description={t.settings.overlap_text}
          min={0}
          max={168}
          data-autofocus
          {...form.getInputProps('overlap_hours')}
        />
      </FormDialog>
      <ShownOnceDialog
        opened={secret !== null}
        onClose={() => setSecret(null)}
        title={t.settings.secret_title}
        text={t.settings.secret_text}
        value={secret ?? ''}
        copy={t.settings.copy_secret}
      />
    </>
  )
}
