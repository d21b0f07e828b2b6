import { Type } from 'typebox'
import { defineEvent, exampleOf, standardEvents } from '../../events/define.ts'
import { Contact } from './schema.ts'

const { id, first_name, last_name, email, phone, company_id, stage, created_at } = Contact.properties

const created = {
  id: 42,
  first_name: 'Ana',
  last_name: 'Ruiz',
  email: 'ana.ruiz@acme.example',
  phone: '+34 910 55 01 42',
  company_id: 7,
  stage: 'lead',
  created_at: '2026-11-21T08:30:00.000Z',
}
const detail = {
  ...(exampleOf(Contact) as object),
  ...created,
  mobile: '+34 600 55 01 42',
  company: { id: 7, name: 'Acme Inc.', website: 'https://acme.example' },
  title: 'Head of Purchasing',
  source: 'trade fair',
  custom_fields: { region: 'EMEA' },
  tags: ['partner'],
  updated_at: '2026-11-21T08:30:00.000Z',
}

// The contract specifies these keys and no others.
const ContactCreated = Type.Object({
  id,
  first_name,
  last_name,
  email,
  phone,
  company_id,
  stage,
  created_at,
})

export const contactCreated = defineEvent(
  'contact.created',
  'A contact was created.',
  ContactCreated,
  created,
)
export const [, contactUpdated, contactDeleted] = standardEvents('contact', Contact, detail)
