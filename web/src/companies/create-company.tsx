import { TextInput } from '@mantine/core'
import type { RecordOf } from '../api/record-api.ts'
import { CreateRecord } from '../record/create-record.tsx'
import { type CreateProps, useLabels } from '../record/kinds.ts'

type Props = CreateProps & { onCreated?: (company: RecordOf<'companies'>) => void }

const start = { name: '', website: '', industry: '', phone: '', address: '' }

/** The dialog that creates a company. */
export function CreateCompany(props: Props) {
  const labelOf = useLabels('companies')
  return (
    <CreateRecord kind="companies" {...props} start={start}>
      {({ getInputProps }) => (
        <>
          <TextInput label={labelOf('name')} data-autofocus {...getInputProps('name')} />
          <div className="form-pair">
            <TextInput type="url" label={labelOf('website')} {...getInputProps('website')} />
            <TextInput label={labelOf('industry')} {...getInputProps('industry')} />
            <TextInput type="tel" label={labelOf('phone')} {...getInputProps('phone')} />
            <TextInput label={labelOf('address')} {...getInputProps('address')} />
          </div>
        </>
      )}
    </CreateRecord>
  )
}
