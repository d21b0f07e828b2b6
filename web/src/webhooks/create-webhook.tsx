import { Anchor, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { useNavigate } from '../app/link.ts'
import { ShownOnceDialog } from '../settings/shown-once-dialog.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { FormDialog } from '../ui/form.tsx'
import { SendTest } from './send-test.tsx'
import { WebhookFields } from './webhook-fields.tsx'
import { bodyOf, nested_fields, new_webhook } from './webhook-values.ts'

/** Creates a webhook, shows its secret once with a test of the receiver, then its page. */
export function CreateWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [created, setCreated] = useState<Schemas['WebhookCreated'] | null>(null)
  return (
    <>
      <FormDialog
        draft="create-webhook"
        title={t.app.create_webhook}
        opened={opened}
        onClose={onClose}
        action={t.app.create_webhook}
        size="lg"
        start={{ ...new_webhook, own_secret: false, secret: '' }}
        nested={nested_fields}
        send={({ own_secret, secret, ...values }) => {
          const fields = { ...bodyOf(values), url: values.url, events: values.events }
          const body = own_secret && secret ? { ...fields, secret } : fields
          return dataOf(api.POST('/api/v1/webhooks', { body }))
        }}
        // Show the secret even if the dialog was closed: there is no other chance.
        onSent={(webhook) => {
          client.invalidateQueries({ queryKey: ['webhooks'] })
          setCreated(webhook)
        }}
      >
        {({ values, errors, setFieldValue, getInputProps }) => (
          <>
            <TextInput
              label={t.settings.url}
              description={t.settings.url_text}
              type="url"
              placeholder="https://example.com/hooks/crm"
              data-autofocus
              {...getInputProps('url')}
            />
            <TextInput
              label={t.fields.name}
              description={t.settings.webhook_name_text}
              {...getInputProps('name')}
            />
            <WebhookFields values={values} errors={errors} put={setFieldValue} />
            {values.own_secret ? (
              <TextInput
                label={t.settings.secret}
                description={t.settings.own_secret_text}
                autoComplete="off"
                autoFocus
                {...getInputProps('secret')}
              />
            ) : (
              <Anchor
                component="button"
                type="button"
                size="sm"
                w="fit-content"
                onClick={() => setFieldValue('own_secret', true)}
              >
                {t.settings.own_secret}
              </Anchor>
            )}
          </>
        )}
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
      >
        {created && (
          <div className="webhook-first-test">
            <Text size="sm">{t.webhooks.first_test_text}</Text>
            {/* A link would leave the secret. */}
            <SendTest webhook_id={created.id} event={null} label={t.webhooks.first_test} links={false} />
          </div>
        )}
      </ShownOnceDialog>
    </>
  )
}
