import type { ImportForm } from '../room.ts'

/** Columns of files, also of exports of HubSpot, Pipedrive and Google Contacts. */
export const activity_import: ImportForm = {
  headers: {
    subject: ['Task Title', 'Title', 'Name'],
    type: ['Activity Type', 'Task Type'],
    body: ['Note', 'Notes', 'Task Notes', 'Description'],
    due_at: ['Due Date', 'Due'],
    completed_at: ['Completed At', 'Marked as done time'],
    company: ['Associated Company', 'Organization', 'Company Name'],
    tags: ['Labels', 'Label'],
  },
  by_name: ['company_id'],
}
