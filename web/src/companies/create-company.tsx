import { TextInput } from '@mantine/core'
import { api, dataOf } from '../api/client.ts'
import { useRefresh } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { FormDialog } from '../ui/form.tsx'
import { tell } from '../ui/undo.tsx'
import { type Company, touched } from './companies.ts'

type Props = { opened: boolean; onClose: () => void; onCreated?: (company: Company) => void }

/** The dialog that makes a company. */
export function CreateCompany({ opened, onClose, onCreated }: Props) {
  const t = useTexts()
  const refresh = useRefresh()
  return (
    <FormDialog
      title={t.companies.create}
      action={t.companies.create}
      opened={opened}
      onClose={onClose}
      start={{ name: '', website: '', industry: '', phone: '', address: '' }}
      send={(body) => dataOf(api.POST('/api/v1/companies', { body }))}
      onSent={(company) => {
        tell(t.companies.created(company.name))
        refresh(...touched)
        onCreated?.(company)
      }}
    >
      {({ getInputProps }) => (
        <>
          <TextInput label={t.companies.name} data-autofocus {...getInputProps('name')} />
          <div className="form-pair">
            <TextInput type="url" label={t.companies.website} {...getInputProps('website')} />
            <TextInput label={t.companies.industry} {...getInputProps('industry')} />
            <TextInput type="tel" label={t.companies.phone} {...getInputProps('phone')} />
            <TextInput label={t.companies.address} {...getInputProps('address')} />
          </div>
        </>
      )}
    </FormDialog>
  )
}
