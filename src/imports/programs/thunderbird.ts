import type { Program } from './program.ts'

export const thunderbird: Program = {
  id: 'thunderbird',
  label: 'Thunderbird',
  sources: [
    'mozilla/releases-comm-central:mail/locales/en-US/chrome/messenger/importMsgs.properties',
    'public code that reads exports: "Display Name,Nickname,Primary Email", "Mobil-Tel.-Nr.", "Home Post Code"',
  ],
  files: [
    {
      kind: 'contacts',
      evidence: [
        ['Display Name', 'Anzeigename'],
        ['Primary Email', 'Primäre E-Mail-Adresse'],
        ['Secondary Email', 'Sekundäre E-Mail-Adresse'],
        ['Pager Number', 'Pager-Nummer'],
      ],
      columns: {
        'First Name': 'first_name',
        'Last Name': 'last_name',
        'Display Name': 'name',
        'Primary Email': 'email',
        'Secondary Email': 'email',
        'Work Phone': 'phone',
        'Home Phone': 'phone',
        'Mobile Number': 'mobile',
        'Fax Number': null,
        'Job Title': 'title',
        Organization: 'company',
        Organisation: 'company',
        // German
        Vorname: 'first_name',
        Nachname: 'last_name',
        Anzeigename: 'name',
        'Primäre E-Mail-Adresse': 'email',
        'Sekundäre E-Mail-Adresse': 'email',
        'Tel. dienstlich': 'phone',
        'Tel. privat': 'phone',
        'Mobil-Tel.-Nr.': 'mobile',
        Arbeitstitel: 'title',
      },
    },
  ],
}
