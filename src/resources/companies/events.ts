import { defineEvent } from '../../events/define.ts'
import { Company } from './schema.ts'

const example = {
  id: 7,
  name: 'Acme Inc.',
  website: 'https://acme.example',
  industry: 'Manufacturing',
  phone: '+1 202 555 0143',
  address: '1 Main Street, Springfield',
  custom_fields: { region: 'EMEA' },
  created_at: '2026-11-21T08:30:00.000Z',
  updated_at: '2026-11-21T08:30:00.000Z',
}

export const companyCreated = defineEvent('company.created', 'A company was created.', Company, example)
export const companyUpdated = defineEvent(
  'company.updated',
  'A company was changed or restored.',
  Company,
  example,
)
export const companyDeleted = defineEvent(
  'company.deleted',
  'A company was moved to the trash.',
  Company,
  example,
)
