import { Radio, Stack, TextInput } from '@mantine/core'
import { useTexts } from '../../texts/texts.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import type { View } from './saved-views.ts'

export type NamedView = Pick<View, 'name' | 'visibility'>
type Props = {
  opened: boolean
  onClose: () => void
  /** The view that gets another name; none for a new one. */
  view?: View | undefined
  send: (named: NamedView) => Promise<unknown>
}

/** Asks for the name of a view, and of a new one, who sees it. */
export function ViewDialog({ opened, onClose, view, send }: Props) {
  const t = useTexts()
  const title = view ? t.app.view_actions.rename : t.app.save_new_view
  const start: NamedView = { name: view?.name ?? '', visibility: view?.visibility ?? 'private' }
  return (
    <FormDialog opened={opened} onClose={onClose} title={title} action={title} start={start} send={send}>
      {(form) => (
        <>
          <TextInput label={t.app.view_name} required maxLength={255} {...form.getInputProps('name')} />
          {!view && (
            <Radio.Group label={t.app.view_seen_by} {...form.getInputProps('visibility')}>
              <Stack gap="sm" mt="xs">
                <Radio value="private" label={t.app.only_me} />
                <Radio value="shared" label={t.app.everybody} />
              </Stack>
            </Radio.Group>
          )}
        </>
      )}
    </FormDialog>
  )
}
