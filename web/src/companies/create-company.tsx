import type { CreateProps } from '../record/kinds.ts'
import { CreateFacts } from '../record/page/create-facts.tsx'
import { fields } from './fields.ts'

/** The dialog that creates a company. */
export const CreateCompany = (props: CreateProps) => (
  <CreateFacts kind="companies" {...props} fields={fields} />
)
