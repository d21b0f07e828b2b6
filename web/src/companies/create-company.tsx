import { SimpleGrid, TextInput } from '@mantine/core'
import { api, dataOf } from '../api/client.ts'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog, useRecordForm } from '../ui/form.tsx'
import { type Company, touched } from './companies.ts'

type Props = { opened: boolean; onClose: () => void; onCreated?: (company: Company) => void }

const start = { name: '', website: '', industry: '', phone: '', address: '' }

/** The dialog that makes a company. */
export function CreateCompany({ opened, onClose, onCreated }: Props) {
  const t = useTexts()
  const refresh = useRefresh()
  const { form, submit, sending, problem } = useRecordForm(start, opened)

  async function create() {
    await submit(async (body) => {
      const company = await dataOf(api.POST('/api/v1/companies', { body }))
      onClose()
      refresh(...touched)
      onCreated?.(company)
    })
  }
  return (
    <FormDialog
      title={t.companies.create}
      action={t.companies.create}
      opened={opened}
      onClose={onClose}
      sending={sending}
      problem={problem}
      onSubmit={create}
    >
      <TextInput mb="md" label={t.companies.name} data-autofocus {...form.getInputProps('name')} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="md">
        <TextInput type="url" label={t.companies.website} {...form.getInputProps('website')} />
        <TextInput label={t.companies.industry} {...form.getInputProps('industry')} />
        <TextInput type="tel" label={t.companies.phone} {...form.getInputProps('phone')} />
        <TextInput label={t.companies.address} {...form.getInputProps('address')} />
      </SimpleGrid>
    </FormDialog>
  )
}
