import type { ImportForm } from '../room.ts'

/** Columns of files, also of exports of HubSpot, Pipedrive and Google Contacts. */
export const deal_import: ImportForm = {
  headers: {
    name: ['Deal Name', 'Title'],
    value: ['Amount', 'Deal Value'],
    stage: ['Deal Stage'],
    probability: ['Deal Probability'],
    expected_close_date: ['Close Date', 'Expected Close'],
    lost_reason: ['Closed Lost Reason'],
    company: ['Associated Company', 'Organization', 'Company Name'],
    tags: ['Labels', 'Label'],
  },
  by_name: ['company_id'],
  after_create: ['lost_reason'],
  // The default depends on the stage. An undo that sent it back would make it the deal's own probability. A closed deal
  // loses its own probability when it is reopened.
  derived: (before) => ((before as { status: string }).status === 'open' ? ['probability'] : []),
}
