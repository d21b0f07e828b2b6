import { Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { answerOf, api } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { tell } from '../ui/undo.tsx'
import type { Row } from './trashed.ts'

/** Asks before a record goes for good, and says what goes with it. A person's data asks for the name to be typed. */
export function EraseDialog({
  row,
  onClose,
  onErased,
}: {
  row: Row
  onClose: () => void
  onErased: () => void
}) {
  const t = useTexts()
  const { form, submit, sending, problem } = useRecordForm({ name: '' })
  const [wrong, setWrong] = useState(false)
  const names = row.kind === 'contacts' || row.kind === 'companies'
  async function erase() {
    if (names && form.getValues().name.trim() !== row.name.trim()) return setWrong(true)
    const path = { kind: row.kind, id: row.record_id }
    const done = await submit(() => answerOf(api.DELETE('/api/v1/trash/{kind}/{id}', { params: { path } })))
    if (!done) return
    tell(t.trash.erased(row.name))
    onErased()
  }
  return (
    <FormDialog
      opened
      title={t.trash.erase_title(row.name)}
      action={t.trash.erase}
      color="red"
      {...{ sending, problem, onClose }}
      onSubmit={erase}
    >
      <Stack gap="sm">
        <Text size="sm">{t.trash.erase_text}</Text>
        {row.kind === 'contacts' && <Text size="sm">{t.trash.erase_contact_text}</Text>}
        <Text size="sm" c="dimmed">
          {t.trash.erase_kept}
        </Text>
        {names && (
          <TextInput
            label={t.trash.type_name(row.name)}
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('name')}
            error={wrong && t.trash.wrong_name}
            onChange={(event) => {
              setWrong(false)
              form.setFieldValue('name', event.currentTarget.value)
            }}
          />
        )}
      </Stack>
    </FormDialog>
  )
}
