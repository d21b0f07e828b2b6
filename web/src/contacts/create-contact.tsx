import { SimpleGrid, TagsInput, TextInput } from '@mantine/core'
import { api, dataOf } from '../api/client.ts'
import { searches } from '../record/choices.ts'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
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
  const start = {
    ...{ first_name: '', last_name: '', email: '', phone: '', stage: '' },
    company_id: (initial?.company ?? null) as Choice | null,
    tags: [] as string[],
  }
  const { form, submit, sending, problem } = useRecordForm(start, opened)

  async function create() {
    await submit(async ({ company_id, ...values }) => {
      const body = { ...values, company_id: company_id?.id ?? null }
      const contact = await dataOf(api.POST('/api/v1/contacts', { body }))
      onClose()
      refresh(...touched)
      onCreated?.(contact)
    })
  }
  const { company_id } = form.values
  return (
    <FormDialog
      title={t.contacts.create}
      action={t.contacts.create}
      opened={opened}
      onClose={onClose}
      sending={sending}
      problem={problem}
      onSubmit={create}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="md">
        <TextInput label={t.contacts.first_name} data-autofocus {...form.getInputProps('first_name')} />
        <TextInput label={t.contacts.last_name} {...form.getInputProps('last_name')} />
        <TextInput type="email" label={t.contacts.email} {...form.getInputProps('email')} />
        <TextInput type="tel" label={t.contacts.phone} {...form.getInputProps('phone')} />
        <ReferenceInput
          label={t.contacts.company}
          kind="companies"
          search={searches.companies}
          value={company_id}
          onChange={(choice) => form.setFieldValue('company_id', choice)}
          error={form.errors.company_id}
        />
        <StageInput label={t.contacts.stage} {...form.getInputProps('stage')} />
      </SimpleGrid>
      <TagsInput mt="md" label={t.app.tags} maxTags={50} {...form.getInputProps('tags')} />
    </FormDialog>
  )
}
