import { Text, TextInput } from '@mantine/core'
import { answerOf, api } from '../api/client.ts'
import { useTexts } from '../texts/with-trash.ts'
import { FormDialog } from '../ui/form.tsx'
import { showMessage } from '../ui/undo.tsx'
import type { Row } from './trashed.ts'

/**
 * Confirms the erasure of a record and lists what goes with it. For personal data, the name must be typed.
 */
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
  const names = row.kind === 'contacts' || row.kind === 'companies'
  const path = { kind: row.kind, id: row.record_id }
  return (
    <FormDialog
      opened
      title={t.trash.erase_title({ name: row.name })}
      action={t.trash.erase}
      color="red"
      onClose={onClose}
      start={{ name: '' }}
      check={({ name }) => ({
        ...(names && name.trim() !== row.name.trim() && { name: t.trash.wrong_name }),
      })}
      send={() => answerOf(api.DELETE('/api/v1/trash/{kind}/{id}', { params: { path } }))}
      onSent={() => {
        showMessage(t.trash.erased({ name: row.name }))
        onErased()
      }}
    >
      {({ getInputProps }) => (
        <>
          <Text size="sm">{t.trash.erase_text}</Text>
          {row.kind === 'contacts' && <Text size="sm">{t.trash.erase_contact_text}</Text>}
          <Text size="sm" c="dimmed">
            {t.trash.erase_kept}
          </Text>
          {names && (
            <TextInput
              label={t.trash.type_name({ name: row.name })}
              autoComplete="off"
              {...getInputProps('name')}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
