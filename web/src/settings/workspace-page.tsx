import { Button, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { ProblemNote } from '../app/problems.tsx'
import { sessionQuery, useMay, useSession } from '../app/session.ts'
import { CurrencyInput } from '../people/inputs.tsx'
import { useTexts } from '../texts/texts.ts'
import { showMessage } from '../ui/undo.tsx'
import { useSavedForm } from './saved-form.ts'
import { SettingsFrame } from './settings-frame.tsx'

/** The workspace's name and currency. */
export function WorkspacePage() {
  const t = useTexts()
  const client = useQueryClient()
  const { workspace } = useSession()
  const writes = useMay()('workspace:write')
  const { name, currency } = workspace
  const { form, save, changed, sending, problem } = useSavedForm({ name, currency })
  async function send() {
    if (!(await save((body) => dataOf(api.PUT('/api/v1/workspace', { body }))))) return
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
    showMessage(t.app.saved)
  }
  return (
    <SettingsFrame
      title={t.settings.pages.workspace.label}
      api={{ method: 'PUT', path: '/workspace', body: { name, currency } }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <fieldset className="settings-fields" disabled={!writes}>
          <div className="settings-form">
            <TextInput label={t.people.workspace_name} {...form.getInputProps('name')} />
            <CurrencyInput
              description={t.settings.currency_text}
              disabled={!writes}
              {...form.getInputProps('currency')}
            />
          </div>
        </fieldset>
        {problem ? <ProblemNote error={problem} /> : null}
        {writes && (
          <Button type="submit" mt="md" loading={sending} disabled={!changed}>
            {t.app.save}
          </Button>
        )}
      </form>
    </SettingsFrame>
  )
}
