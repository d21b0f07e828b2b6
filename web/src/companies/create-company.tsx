import { CreateFacts } from '../record/create-facts.tsx'
import type { CreateProps } from '../record/kinds.ts'
import { fields } from './fields.ts'

/** The dialog that creates a company. */
export const CreateCompany = (props: CreateProps) => (
  <CreateFacts kind="companies" {...props} fields={fields} />
)
