import { Anchor, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { useOpening } from '../ui/opening.ts'
import { all_events, type EventName } from './catalogue.ts'
import { EventChoice } from './event-choice.tsx'
import { ShownOnceDialog } from './shown-once-dialog.tsx'

/** Creates a webhook, shows its secret once, then its page. */
export function CreateWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts()
  const client = useQueryClient()
  const navigate = useNavigate()
  const opening = useOpening(opened)
  const [created, setCreated] = useState<Schemas['WebhookCreated'] | null>(null)
  const [own_secret, setOwnSecret] = useState(false)
  const { form, submit, sending, problem } = useRecordForm({
    ...{ name: '', url: '', secret: '' },
    events: [...all_events] as EventName[],
  })
  async function create() {
    await submit(async ({ secret, ...rest }) => {
      const body = own_secret && secret ? { ...rest, secret } : rest
      const webhook = await dataOf(api.POST('/api/v1/webhooks', { body }))
      client.invalidateQueries({ queryKey: ['webhooks'] })
      // Its secret is shown this once, also to who has closed the dialog.
      setCreated(webhook)
      if (opening.over) return
      onClose()
      form.reset()
      setOwnSecret(false)
    })
  }
  return (
    <>
      <FormDialog
        title={t.settings.create_webhook}
        opened={opened}
        onClose={onClose}
        action={t.settings.create_webhook}
        sending={sending}
        problem={problem}
        size="lg"
        onSubmit={create}
      >
        <Stack gap="md">
          <TextInput
            label={t.settings.url}
            description={t.settings.url_text}
            type="url"
            placeholder="https://example.com/hooks/crm"
            data-autofocus
            {...form.getInputProps('url')}
          />
          <TextInput
            label={t.settings.name}
            description={t.settings.webhook_name_text}
            {...form.getInputProps('name')}
          />
          <EventChoice {...form.getInputProps('events')} value={form.getValues().events} />
          {own_secret ? (
            <TextInput
              label={t.settings.secret}
              description={t.settings.own_secret_text}
              autoComplete="off"
              autoFocus
              {...form.getInputProps('secret')}
            />
          ) : (
            <Anchor
              component="button"
              type="button"
              size="sm"
              w="fit-content"
              onClick={() => setOwnSecret(true)}
            >
              {t.settings.own_secret}
            </Anchor>
          )}
        </Stack>
      </FormDialog>
      <ShownOnceDialog
        opened={created !== null}
        onClose={() => {
          setCreated(null)
          if (created) navigate({ to: `/settings/webhooks/${created.id}` })
        }}
        title={t.settings.secret_title}
        text={t.settings.secret_text}
        value={created?.secret ?? ''}
        copy={t.settings.copy_secret}
      />
    </>
  )
}
