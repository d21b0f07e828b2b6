import type { ImportForm, JoinedRow } from '../room.ts'

/** Columns of files, in English and German. The columns of other programs are in imports/programs. */
export const contact_import: ImportForm = {
  headers: {
    first_name: ['Given Name', 'Forename', 'Vorname'],
    last_name: ['Family Name', 'Surname', 'Nachname'],
    name: ['Full Name', 'Name'],
    email: [
      ...['E-mail', 'E-mail Address', 'E-mail 1 - Value', 'Email - Work', 'Email - Home', 'Email - Other'],
      'E-Mail-Adresse',
    ],
    phone: [
      ...['Phone Number', 'Phone 1 - Value', 'Phone - Work', 'Phone - Home', 'Phone - Other', 'Telephone'],
      ...['Telefon', 'Telefonnummer'],
    ],
    mobile: [
      ...['Mobile Phone', 'Mobile Phone Number', 'Phone - Mobile', 'Phone 2 - Value'],
      ...['Mobil', 'Mobilnummer', 'Mobiltelefon', 'Mobiltelefonnummer', 'Handy', 'Handynummer'],
    ],
    company: [
      'Company Name',
      'Associated Company',
      'Organization',
      'Organization Name',
      'Organization 1 - Name',
      'Associated Company (Primary)',
      'Account Name',
      ...['Firma', 'Firmenname', 'Unternehmen', 'Unternehmensname', 'Organisation'],
    ],
    title: ['Job Title', 'Organization Title', 'Organization 1 - Title', 'Position', 'Berufsbezeichnung'],
    stage: ['Lifecycle Stage', 'Lifecycle-Phase'],
    source: ['Original Source', 'Lead Source', 'Original Traffic Source', 'Quelle'],
    owner: ['Contact owner', 'Owner', 'Besitzer', 'Verantwortlich'],
    tags: ['Tag', 'Labels', 'Label', 'Categories', 'Group Membership', 'Schlagwörter', 'Kategorien'],
  },
  likely_headers: { stage: ['Lead Status', 'Leadstatus', 'Contact Status', 'Kontaktstatus', 'Status'] },
  choices: { stage: 'contact_stages' },
  by_name: ['company_id', 'owner_id'],
  split_name: ['first_name', 'last_name'],
  parts: { middle_name: 'text' },
  join: joinMiddleName,
}

/** A middle name belongs to the first names, unless the full name has put it there. */
function joinMiddleName({ data, parts, leave }: JoinedRow): [] {
  const { first_name: first } = data
  const middle = parts.get('middle_name')
  const name = parts.get('name')
  // Without first names, it would replace those of a record that the row changes.
  if (typeof first !== 'string') leave('middle_name')
  else if (typeof middle === 'string') {
    const both = `${first} ${middle.trim()}`
    const is_there = typeof name === 'string' && ` ${first} `.includes(` ${middle.trim()} `)
    if (!is_there || name.includes(both)) data.first_name = both
  }
  return []
}
