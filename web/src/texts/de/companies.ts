import type { companies as english } from '../en/companies.ts'

export const companies: typeof english = {
  create: 'Firma anlegen',
  delete: 'Firma löschen',
  created: (name) => `${name} angelegt`,
  empty:
    'In Firmen arbeiten Ihre Kontakte. Legen Sie die erste an, dann fügen Sie die Leute dort und Deals hinzu.',
  empty_read_only: 'Es gibt noch keine Firmen.',
  name: 'Name',
  website: 'Website',
  industry: 'Branche',
  phone: 'Telefon',
  address: 'Anschrift',
  number: 'Nummer',
  created_at: 'Angelegt',
  updated_at: 'Geändert',
  created_from: 'Angelegt ab',
  created_to: 'Angelegt bis',
  back: 'Zurück zu den Firmen',
  open_website: (name) => `Website von ${name} öffnen`,
  set_industry: 'Branche setzen',
  industry_set: (n, industry) =>
    n === 1 ? `Branche ${industry} für 1 Firma gesetzt` : `Branche ${industry} für ${n} Firmen gesetzt`,
  industry_cleared: (n) => (n === 1 ? 'Branche von 1 Firma entfernt' : `Branche von ${n} Firmen entfernt`),
  deleted: (n) => (n === 1 ? '1 Firma gelöscht' : `${n} Firmen gelöscht`),
}
