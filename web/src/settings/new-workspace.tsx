import { Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { useSession } from '../app/session.ts'
import { CurrencyInput } from '../people/inputs.tsx'
import { useTexts } from '../texts/with-settings.ts'
import { FormDialog } from '../ui/form.tsx'

/** Creates a workspace, owned by the person, and switches to it. */
export default function NewWorkspace({ onClose }: { onClose: () => void }) {
  const t = useTexts()
  const client = useQueryClient()
  const { workspace } = useSession()
  return (
    <FormDialog
      title={t.app.new_workspace}
      opened
      onClose={onClose}
      action={t.settings.create_workspace}
      start={{ name: '', currency: workspace.currency }}
      send={(body) => dataOf(api.POST('/api/v1/workspaces', { body }))}
      onSent={() => {
        client.clear()
        window.location.assign('/')
      }}
    >
      {({ getInputProps }) => (
        <>
          <Text size="sm">{t.settings.new_workspace_text}</Text>
          <TextInput label={t.people.workspace_name} data-autofocus {...getInputProps('name')} />
          <CurrencyInput {...getInputProps('currency')} />
        </>
      )}
    </FormDialog>
  )
}
