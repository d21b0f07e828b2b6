import { TagsInput, TextInput } from '@mantine/core'
import { api, dataOf } from '../api/client.ts'
import { fullName, searches } from '../record/choices.ts'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog } from '../ui/form.tsx'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
import { tell } from '../ui/undo.tsx'
import { type Contact, touched } from './contacts.ts'
import { StageInput } from './stage-input.tsx'

type Props = {
  opened: boolean
  onClose: () => void
  onCreated?: (contact: Contact) => void
  /** What the new contact has before anything is written. */
  initial?: { company?: Choice | null }
}

/** The dialog that makes a contact. */
export function CreateContact({ opened, onClose, onCreated, initial }: Props) {
  const t = useTexts()
  const refresh = useRefresh()
  return (
    <FormDialog
      title={t.contacts.create}
      action={t.contacts.create}
      opened={opened}
      onClose={onClose}
      start={{
        ...{ first_name: '', last_name: '', email: '', phone: '', stage: '' },
        company_id: initial?.company ?? null,
        tags: [] as string[],
      }}
      send={({ company_id, ...values }) =>
        dataOf(api.POST('/api/v1/contacts', { body: { ...values, company_id: company_id?.id ?? null } }))
      }
      onSent={(contact) => {
        tell(t.contacts.created(fullName(contact)))
        refresh(...touched)
        onCreated?.(contact)
      }}
    >
      {({ getInputProps }) => (
        <>
          <div className="form-pair">
            <TextInput label={t.contacts.first_name} data-autofocus {...getInputProps('first_name')} />
            <TextInput label={t.contacts.last_name} {...getInputProps('last_name')} />
            <TextInput type="email" label={t.contacts.email} {...getInputProps('email')} />
            <TextInput type="tel" label={t.contacts.phone} {...getInputProps('phone')} />
            <ReferenceInput
              label={t.contacts.company}
              kind="companies"
              search={searches.companies}
              {...getInputProps('company_id')}
            />
            <StageInput label={t.contacts.stage} {...getInputProps('stage')} />
          </div>
          <TagsInput label={t.app.tags} maxTags={50} {...getInputProps('tags')} />
        </>
      )}
    </FormDialog>
  )
}
