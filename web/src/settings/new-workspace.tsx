import { Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { useSession } from '../app/session.ts'
import { CurrencyInput } from '../people/inputs.tsx'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import './settings.css'

/** Makes another workspace, owned by who makes it, and goes there. */
export default function NewWorkspace({ onClose }: { onClose: () => void }) {
  const t = useTexts()
  const client = useQueryClient()
  const { workspace } = useSession()
  const { form, submit, sending, problem } = useRecordForm({ name: '', currency: workspace.currency })
  const make = () =>
    submit(async (body) => {
      await dataOf(api.POST('/api/v1/workspaces', { body }))
      client.clear()
      window.location.assign('/')
    })
  return (
    <FormDialog
      title={t.settings.new_workspace}
      opened
      onClose={onClose}
      action={t.settings.create_workspace}
      sending={sending}
      problem={problem}
      onSubmit={make}
    >
      <Text size="sm" mb="md">
        {t.settings.new_workspace_text}
      </Text>
      <div className="settings-form">
        <TextInput label={t.people.workspace_name} data-autofocus {...form.getInputProps('name')} />
        <CurrencyInput {...form.getInputProps('currency')} />
      </div>
    </FormDialog>
  )
}
