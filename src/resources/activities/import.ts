import type { ImportForm } from '../room.ts'

/** Columns of files, also of exports of HubSpot, Pipedrive and Google Contacts, in English and German. */
export const activity_import: ImportForm = {
  headers: {
    subject: ['Task Title', 'Title', 'Name', 'Betreff'],
    type: ['Activity Type', 'Task Type', 'Art'],
    body: ['Note', 'Notes', 'Task Notes', 'Description', 'Notiz', 'Notizen', 'Beschreibung'],
    due_at: ['Due Date', 'Due', 'Fällig', 'Fällig am', 'Fälligkeitsdatum'],
    completed_at: ['Completed At', 'Marked as done time'],
    company: [
      ...['Associated Company', 'Organization', 'Company Name'],
      ...['Firma', 'Firmenname', 'Unternehmen', 'Unternehmensname', 'Organisation'],
    ],
    tags: ['Labels', 'Label', 'Schlagwörter'],
  },
  by_name: ['company_id'],
}
