import type { ImportForm } from '../room.ts'

/** Columns of files, also of exports of HubSpot, Pipedrive and Google Contacts, in English and German. */
export const deal_import: ImportForm = {
  headers: {
    name: ['Deal Name', 'Title'],
    value: ['Amount', 'Deal Value', 'Betrag', 'Wert'],
    stage: ['Deal Stage', 'Deal-Phase', 'Phase'],
    probability: ['Deal Probability', 'Wahrscheinlichkeit'],
    expected_close_date: ['Close Date', 'Expected Close', 'Abschluss', 'Abschlussdatum'],
    lost_reason: ['Closed Lost Reason'],
    company: [
      ...['Associated Company', 'Organization', 'Company Name'],
      ...['Firma', 'Firmenname', 'Unternehmen', 'Unternehmensname', 'Organisation'],
    ],
    tags: ['Labels', 'Label', 'Schlagwörter'],
  },
  by_name: ['company_id'],
  after_create: ['lost_reason'],
  // The default depends on the stage. An undo that sent it back would make it the deal's own probability. A closed deal
  // loses its own probability when it is reopened.
  derived: (before) => ((before as { status: string }).status === 'open' ? ['probability'] : []),
}
