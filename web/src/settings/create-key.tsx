import { Code, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import type { paths } from '../api/schema'
import { useFormats } from '../app/formats.ts'
import { useSession } from '../app/session.ts'
import { endOfDay } from '../app/zones.ts'
import { useTexts } from '../texts/with-settings.ts'
import { CopyButton } from '../ui/copy.tsx'
import { FormDialog } from '../ui/form.tsx'
import { DayInput } from '../ui/inputs.tsx'
import { ScopeMatrix } from './scope-matrix.tsx'
import { ShownOnceDialog } from './shown-once-dialog.tsx'

const day_ms = 24 * 3600 * 1000
const terms = ['never', '30', '90', '365', 'day'] as const
type Term = (typeof terms)[number]
type Body = paths['/api/v1/keys']['post']['requestBody']['content']['application/json']
type Scope = NonNullable<Body['scopes']>[number]

/** Creates an API key and shows it once. */
export function CreateKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts()
  const { zone } = useFormats()
  const client = useQueryClient()
  const { scopes: known } = useSession()
  const [created, setCreated] = useState<Schemas['ApiKeyCreated'] | null>(null)
  const required = t.app.field_problems.required
  const curl = `curl -H 'Authorization: Bearer ${created?.token}' \\\n  ${window.location.origin}/api/v1/contacts`
  return (
    <>
      <FormDialog
        draft="create-key"
        title={t.settings.create_key}
        opened={opened}
        onClose={onClose}
        action={t.settings.create_key}
        start={{
          name: '',
          reach: 'all',
          scopes: [] as string[],
          term: 'never' as Term,
          expires_at: null as string | null,
        }}
        // Without a date the key would never expire.
        check={({ term, expires_at }) => (term === 'day' && !expires_at ? { expires_at: required } : {})}
        send={({ name, reach, scopes, term, expires_at }) => {
          const ends = { never: null, day: expires_at && endOfDay(expires_at, zone) }
          const body = {
            name,
            scopes: reach === 'all' ? null : (scopes as Scope[]),
            expires_at: term === 'never' || term === 'day' ? ends[term] : inDays(Number(term)),
          }
          return dataOf(api.POST('/api/v1/keys', { body }))
        }}
        onSent={(key) => {
          client.invalidateQueries({ queryKey: ['keys'] })
          setCreated(key)
        }}
      >
        {({ values, getInputProps }) => (
          <>
            <TextInput
              label={t.fields.name}
              description={t.settings.key_name_text}
              data-autofocus
              {...getInputProps('name')}
            />
            <Radio.Group label={t.settings.scopes} {...getInputProps('reach')}>
              <Stack gap="md" mt="sm">
                <Radio size="xs" value="all" label={t.settings.everything} />
                <Radio size="xs" value="some" label={t.settings.some_scopes} />
              </Stack>
            </Radio.Group>
            {values.reach === 'some' && (
              <ScopeMatrix known={known} {...getInputProps('scopes')} value={values.scopes} />
            )}
            <Select
              label={t.fields.expires_at}
              data={terms.map((term) => ({ value: term, label: t.settings.terms[term] }))}
              {...getInputProps('term')}
            />
            {values.term === 'day' && (
              <DayInput label={t.settings.last_day} {...getInputProps('expires_at')} />
            )}
          </>
        )}
      </FormDialog>
      <ShownOnceDialog
        opened={created !== null}
        onClose={() => setCreated(null)}
        title={t.settings.key_title}
        text={t.settings.key_text}
        value={created?.token ?? ''}
        copy={t.settings.copy_key}
      >
        <Text size="sm" mt="md">
          {t.settings.try_key}
        </Text>
        <Code block my="xs">
          {curl}
        </Code>
        <CopyButton value={curl} label={t.settings.copy_curl} />
      </ShownOnceDialog>
    </>
  )
}

const inDays = (days: number) => new Date(Date.now() + days * day_ms).toISOString()
