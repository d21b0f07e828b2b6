import type { ImportForm } from '../room.ts'

/** Columns of files, also of exports of HubSpot, Pipedrive and Google Contacts. */
export const company_import: ImportForm = {
  headers: {
    name: ['Company Name', 'Organization Name'],
    website: ['Website URL', 'Company Domain Name', 'Domain', 'URL'],
    phone: ['Phone Number', 'Telephone'],
    address: ['Street Address'],
    tags: ['Labels', 'Label'],
  },
  by_name: [],
}
