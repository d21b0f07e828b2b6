import type { Program } from './program.ts'

export const twenty: Program = {
  id: 'twenty',
  label: 'Twenty',
  sources: [
    'twentyhq/twenty:packages/twenty-front/src/modules/object-record/record-index/export/hooks/useRecordIndexExportRecords.ts',
    'twentyhq/twenty:packages/twenty-shared/src/constants/CompositeFieldSubFieldLabels.ts',
    'public code that reads exports: "Emails / Primary Email", "Phones / Primary Phone Calling Code"',
  ],
  decimal: '.',
  guard: '\u200d',
  files: [
    {
      kind: 'contacts',
      evidence: ['Id', 'Name / First Name', 'Name / Last Name', 'Emails / Primary Email'],
      columns: {
        'Name / First Name': 'first_name',
        'Name / Last Name': 'last_name',
        'Emails / Primary Email': 'email',
        'Emails / Additional Emails': null,
        'Phones / Primary Phone Number': { to: 'phone', prefix: 'Phones / Primary Phone Calling Code' },
        'Phones / Additional Phones': null,
        'Job Title': 'title',
        // Companies have only their id here, which says nothing to another program.
        'Company Id': null,
      },
    },
    {
      kind: 'companies',
      evidence: ['Id', 'Name', ['Domain Name / Link URL', 'Domain Name / Link Label'], 'Employees'],
      columns: {
        Name: 'name',
        'Domain Name / Link URL': 'website',
        'Address / Address 1': 'address_part',
        'Address / Address 2': 'address_part',
        'Address / City': 'address_part',
        'Address / State': 'address_part',
        'Address / Country': 'address_part',
        'Address / Post Code': 'address_part',
      },
    },
    {
      kind: 'deals',
      evidence: ['Id', 'Name', 'Amount / Amount', 'Amount / Currency', 'Stage'],
      columns: {
        Name: 'name',
        'Amount / Amount': 'value',
        'Close date': 'close_date',
        Stage: {
          to: 'stage',
          values: {
            NEW: 'new_lead',
            SCREENING: 'qualification',
            MEETING: 'demo',
            PROPOSAL: 'proposal',
            CUSTOMER: 'won',
          },
        },
        'Company Id': null,
      },
    },
  ],
}
