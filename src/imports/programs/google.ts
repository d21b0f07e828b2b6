import type { Program, ProgramColumn } from './program.ts'

// A file has as many of these columns as its fullest contact needs.
const numbers = [1, 2, 3, 4, 5, 6, 7, 8]
const emails = numbers.map((n): [string, ProgramColumn] => [`E-mail ${n} - Value`, 'email'])
const phones = (label: string) =>
  numbers.map((n): [string, ProgramColumn] => [
    `Phone ${n} - Value`,
    { to: 'phone', label: `Phone ${n} - ${label}` },
  ])

export const google: Program = {
  id: 'google',
  label: 'Google Contacts',
  sources: [
    'https://support.google.com/contacts/answer/7199294',
    'public code that reads exports: "Phonetic First Name,Phonetic Middle Name", "Group Membership,E-mail 1 - Type"',
  ],
  labels: {
    mobile: 'mobile',
    'work mobile': 'mobile',
    cell: 'mobile',
    iphone: 'mobile',
    mobil: 'mobile',
    handy: 'mobile',
    portable: 'mobile',
    móvil: 'mobile',
    cellulare: 'mobile',
    fax: null,
    'home fax': null,
    'work fax': null,
    'other fax': null,
    'fax (work)': null,
    'fax (home)': null,
    pager: null,
    'work pager': null,
    telex: null,
    'tty tdd': null,
  },
  files: [
    {
      kind: 'contacts',
      // People delete columns that they do not use.
      evidence: ['First Name', ['E-mail 1 - Label', 'Phone 1 - Label']],
      columns: {
        'First Name': 'first_name',
        'Middle Name': 'middle_name',
        'Last Name': 'last_name',
        'Organization Name': 'company',
        'Organization Title': 'title',
        Labels: 'tags',
        ...Object.fromEntries(emails),
        ...Object.fromEntries(phones('Label')),
      },
    },
    {
      // Before 2024
      kind: 'contacts',
      evidence: [
        ['Given Name', 'Name'],
        ['E-mail 1 - Type', 'Phone 1 - Type'],
      ],
      columns: {
        'Given Name': 'first_name',
        'Additional Name': 'middle_name',
        'Family Name': 'last_name',
        Name: 'name',
        'Organization 1 - Name': 'company',
        'Organization 1 - Title': 'title',
        'Group Membership': 'tags',
        ...Object.fromEntries(emails),
        ...Object.fromEntries(phones('Type')),
      },
    },
  ],
}
