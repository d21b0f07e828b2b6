import type { Program } from './program.ts'

const stages = { Lead: 'new_lead', 'Won 🎉': 'won', Won: 'won', Lost: 'lost' }

export const attio: Program = {
  id: 'attio',
  label: 'Attio',
  sources: [
    'public code that reads exports: "Company > Description", "Primary location > Country", "Associated deals > Deal name"',
  ],
  files: [
    {
      kind: 'contacts',
      evidence: ['Email addresses', 'Phone numbers', ['Record', 'First name', 'Name']],
      columns: {
        'First name': 'first_name',
        'Last name': 'last_name',
        Record: 'name',
        Name: 'name',
        'Email addresses': 'email',
        'Phone numbers': 'phone',
        Company: 'company',
        'Job title': 'title',
      },
    },
    {
      kind: 'companies',
      evidence: [
        'Record',
        'Domains',
        ['Record ID', 'Categories', 'Connection strength', 'Primary location > Country'],
      ],
      columns: {
        Record: 'name',
        Name: 'name',
        Domains: 'website',
        'Primary location > Line 1': 'address_part',
        'Primary location > Line 2': 'address_part',
        'Primary location > City': 'address_part',
        'Primary location > State': 'address_part',
        'Primary location > Postcode': 'address_part',
        'Primary location > Country': 'address_part',
      },
    },
    {
      kind: 'deals',
      evidence: [
        'Deal name',
        'Deal stage',
        'Deal value',
        ['Deal owner', 'Associated people', 'Associated company'],
      ],
      columns: {
        'Deal name': 'name',
        'Deal stage': { to: 'stage', values: stages },
        'Deal value': 'value',
        'Deal owner': 'owner',
        'Associated company': 'company',
        'Associated people': 'contact',
      },
    },
  ],
}
