import { Text } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { ShownOnceDialog } from '../settings/shown-once-dialog.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { FormDialog } from '../ui/form.tsx'
import { NumberInput } from '../ui/inputs.tsx'

type Props = {
  webhook_id: string
  opened: boolean
  onClose: () => void
  onRotated: (webhook: Schemas['Webhook']) => void
}

/**
 * Rotates a secret. The old one still signs for some hours, so that the receiver can switch without a gap.
 */
export function RotateSecret({ webhook_id, opened, onClose, onRotated }: Props) {
  const t = useTexts()
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <>
      <FormDialog
        title={t.settings.rotate}
        opened={opened}
        onClose={onClose}
        action={t.settings.rotate}
        start={{ overlap_hours: 24 as number | null }}
        send={({ overlap_hours }) => {
          // The service reports an empty field as missing.
          const body = { overlap_hours: overlap_hours as number }
          const params = { path: { webhook_id } }
          return dataOf(api.POST('/api/v1/webhooks/{webhook_id}/rotate-secret', { params, body }))
        }}
        onSent={({ secret, ...webhook }) => {
          onRotated(webhook)
          setSecret(secret)
        }}
      >
        {({ getInputProps }) => (
          <>
            <Text size="sm">{t.settings.rotate_text}</Text>
            <NumberInput
              label={t.settings.overlap}
              description={t.settings.overlap_text}
              {...getInputProps('overlap_hours')}
            />
          </>
        )}
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
