import type { ImportForm } from '../room.ts'

/** Columns of files, also of exports of HubSpot, Pipedrive and Google Contacts, in English and German. */
export const company_import: ImportForm = {
  headers: {
    name: [
      ...['Company Name', 'Organization Name'],
      ...['Firma', 'Firmenname', 'Unternehmen', 'Unternehmensname', 'Organisation'],
    ],
    website: ['Website URL', 'Company Domain Name', 'Domain', 'URL', 'Webseite', 'Internetseite'],
    industry: ['Branche'],
    phone: ['Phone Number', 'Telephone', 'Telefon', 'Telefonnummer'],
    address: ['Street Address', 'Adresse', 'Anschrift'],
    tags: ['Labels', 'Label', 'Schlagwörter'],
  },
  by_name: [],
}
