import type { Program } from './program.ts'

// A lead of Close is a company with contacts. The file has the lead and its first contact in one row.
const evidence = ['id', 'display_name', 'status_label', 'primary_contact_name']

export const close: Program = {
  id: 'close',
  label: 'Close',
  sources: [
    'public code that reads exports: "primary_contact_primary_email", "primary_contact_other_phones"',
  ],
  files: [
    {
      kind: 'companies',
      evidence,
      columns: { display_name: 'name', lead_name: 'name', url: 'website', status_label: null },
    },
    {
      kind: 'contacts',
      evidence,
      columns: {
        display_name: 'company',
        lead_name: 'company',
        primary_contact_name: 'name',
        primary_contact_first_name: 'first_name',
        primary_contact_last_name: 'last_name',
        primary_contact_title: 'title',
        primary_contact_primary_phone: { to: 'phone', label: 'primary_contact_primary_phone_type' },
        primary_contact_other_phones: 'phone',
        primary_contact_primary_email: 'email',
        primary_contact_other_emails: 'email',
        status_label: 'stage',
        url: null,
      },
    },
  ],
  labels: { mobile: 'mobile', fax: null },
}
