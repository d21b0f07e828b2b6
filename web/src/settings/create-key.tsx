import { Code, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { useFormats } from '../app/formats.ts'
import { useSession } from '../app/session.ts'
import { endOfDay, isDay } from '../app/zones.ts'
import { useTexts } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy.tsx'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { ScopeMatrix } from './scope-matrix.tsx'
import { ShownOnceDialog } from './shown-once-dialog.tsx'

const day_ms = 24 * 3600 * 1000
const terms = ['never', '30', '90', '365', 'day'] as const

type Values = {
  name: string
  reach: 'all' | 'some'
  scopes: string[]
  term: (typeof terms)[number]
  expires_at: string
}

/** Creates an API key and shows it once. */
export function CreateKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts()
  const { zone } = useFormats()
  const client = useQueryClient()
  const { scopes: known } = useSession()
  const [created, setCreated] = useState<Schemas['ApiKeyCreated'] | null>(null)
  const { form, submit, sending, problem } = useRecordForm<Values>({
    ...{ name: '', reach: 'all', scopes: [], term: 'never', expires_at: '' },
  })
  const values = form.getValues()
  const create = () =>
    submit(async ({ name, reach, scopes, term, expires_at }) => {
      const ends = { never: null, day: isDay(expires_at) ? endOfDay(expires_at, zone) : null }
      const body = {
        name,
        scopes: reach === 'all' ? null : (scopes as never[]),
        expires_at: term in ends ? ends[term as keyof typeof ends] : inDays(Number(term)),
      }
      const key = await dataOf(api.POST('/api/v1/keys', { body }))
      client.invalidateQueries({ queryKey: ['keys'] })
      onClose()
      form.reset()
      setCreated(key)
    })
  const curl = `curl -H 'Authorization: Bearer ${created?.token}' \\\n  ${window.location.origin}/api/v1/contacts`
  return (
    <>
      <FormDialog
        title={t.settings.create_key}
        opened={opened}
        onClose={onClose}
        action={t.settings.create_key}
        sending={sending}
        problem={problem}
        onSubmit={create}
      >
        <Stack gap="md">
          <TextInput
            label={t.settings.name}
            description={t.settings.key_name_text}
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Radio.Group label={t.settings.scopes} {...form.getInputProps('reach')}>
            <Stack gap="md" mt="sm">
              <Radio size="xs" value="all" label={t.settings.everything} />
              <Radio size="xs" value="some" label={t.settings.some_scopes} />
            </Stack>
          </Radio.Group>
          {values.reach === 'some' && (
            <ScopeMatrix known={known} {...form.getInputProps('scopes')} value={values.scopes} />
          )}
          <Select
            label={t.settings.expires}
            data={terms.map((term) => ({ value: term, label: t.settings.terms[term] }))}
            allowDeselect={false}
            {...form.getInputProps('term')}
          />
          {values.term === 'day' && (
            <TextInput type="date" label={t.settings.last_day} {...form.getInputProps('expires_at')} />
          )}
        </Stack>
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
