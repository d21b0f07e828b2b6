import type { ImportForm, JoinedRow } from '../room.ts'

/** Columns of files, in English and German. The columns of other programs are in imports/programs. */
export const company_import: ImportForm = {
  headers: {
    name: [
      ...['Company', 'Company Name', 'Organization', 'Organization Name'],
      ...['Firma', 'Firmenname', 'Unternehmen', 'Unternehmensname', 'Organisation'],
    ],
    website: ['Website URL', 'Company Domain Name', 'Domain', 'URL', 'Webseite', 'Internetseite'],
    industry: ['Branche'],
    phone: ['Phone Number', 'Telephone', 'Telefon', 'Telefonnummer'],
    address: ['Street Address', 'Adresse', 'Anschrift'],
    owner: ['Company owner', 'Account Owner', 'Owner', 'Besitzer', 'Verantwortlich'],
    tags: ['Labels', 'Label', 'Schlagwörter'],
  },
  by_name: ['owner_id'],
  parts: { address_part: 'texts' },
  join: joinAddress,
}

/** An address may have a column for each of its lines. */
function joinAddress({ data, parts }: JoinedRow): [] {
  const lines = parts.get('address_part')
  if (Array.isArray(lines)) data.address = [data.address, ...lines].filter(Boolean).join(', ')
  return []
}
