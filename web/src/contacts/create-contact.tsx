import { TextInput } from '@mantine/core'
import type { RecordOf } from '../api/record-api.ts'
import { RecordChooser } from '../record/fields/choices.tsx'
import { type CreateProps, useLabels } from '../record/kinds.ts'
import { CreateRecord } from '../record/page/create-record.tsx'
import { SameEmail } from './same-email.tsx'
import { StageInput } from './stage-input.tsx'

type Props = CreateProps & { onCreated?: (contact: RecordOf<'contacts'>) => void }

/** The dialog that creates a contact. */
export function CreateContact({ initial, ...dialog }: Props) {
  const labelOf = useLabels('contacts')
  const start = {
    first_name: '',
    last_name: '',
    email: '',
    phone: '',
    stage: '',
    company_id: initial?.company ?? null,
  }
  return (
    <CreateRecord kind="contacts" {...dialog} start={start}>
      {({ values, getInputProps }) => (
        <div className="form-pair">
          <TextInput label={labelOf('first_name')} data-autofocus {...getInputProps('first_name')} />
          <TextInput label={labelOf('last_name')} {...getInputProps('last_name')} />
          <div>
            <TextInput type="email" label={labelOf('email')} {...getInputProps('email')} />
            <SameEmail email={values.email} />
          </div>
          <TextInput type="tel" label={labelOf('phone')} {...getInputProps('phone')} />
          <RecordChooser kind="companies" {...getInputProps('company_id')} />
          <StageInput label={labelOf('stage')} {...getInputProps('stage')} />
        </div>
      )}
    </CreateRecord>
  )
}
