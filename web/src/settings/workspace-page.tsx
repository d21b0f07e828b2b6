import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { sessionQuery, useMay, useSession } from '../app/session.ts'
import { CurrencyInput } from '../people/inputs.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { ExportEverything } from './export-everything.tsx'
import { SampleData } from './sample-data.tsx'
import { SavedForm } from './saved-form.tsx'
import { SettingsFrame } from './settings-frame.tsx'

/** The workspace's name and currency. */
export function WorkspacePage() {
  const t = useTexts()
  const client = useQueryClient()
  const { workspace } = useSession()
  const writes = useMay()('workspace:write')
  const { name, currency } = workspace
  return (
    <SettingsFrame
      title={t.settings.pages.workspace.label}
      api={{ method: 'PUT', path: '/workspace', body: { name, currency } }}
    >
      <SavedForm
        saved={{ name, currency }}
        writes={writes}
        send={async (body) => {
          await dataOf(api.PUT('/api/v1/workspace', { body }))
          await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
        }}
      >
        {({ getInputProps }) => (
          <div className="settings-form">
            <TextInput label={t.people.workspace_name} {...getInputProps('name')} />
            <CurrencyInput
              description={t.settings.currency_text}
              disabled={!writes}
              {...getInputProps('currency')}
            />
          </div>
        )}
      </SavedForm>
      <SampleData />
      <ExportEverything />
    </SettingsFrame>
  )
}
