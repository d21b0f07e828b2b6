import type { contacts as english } from '../en/contacts.ts'

export const contacts: typeof english = {
  create: 'Kontakt anlegen',
  delete: 'Kontakt löschen',
  created: (name) => `${name} angelegt`,
  empty:
    'Kontakte sind die Menschen, denen Sie etwas verkaufen. Legen Sie den ersten an, schreiben Sie Notizen und planen Sie, was als Nächstes kommt.',
  empty_read_only: 'Es gibt noch keine Kontakte.',
  name: 'Name',
  first_name: 'Vorname',
  last_name: 'Nachname',
  email: 'E-Mail',
  phone: 'Telefon',
  mobile: 'Mobil',
  company: 'Firma',
  title: 'Position',
  stage: 'Phase',
  source: 'Quelle',
  tag: 'Schlagwort',
  number: 'Nummer',
  created_at: 'Angelegt',
  created_from: 'Angelegt ab',
  created_to: 'Angelegt bis',
  back: 'Zurück zu den Kontakten',
  write_email: (name) => `E-Mail an ${name} schreiben`,
  set_stage: 'Phase setzen',
  add_tag: 'Schlagwort hinzufügen',
  remove_tag: 'Schlagwort entfernen',
  stage_set: (n, stage) =>
    n === 1 ? `Phase ${stage} für 1 Kontakt gesetzt` : `Phase ${stage} für ${n} Kontakte gesetzt`,
  stage_cleared: (n) => (n === 1 ? 'Phase von 1 Kontakt entfernt' : `Phase von ${n} Kontakten entfernt`),
  tag_added: (n, tag) =>
    n === 1
      ? `Schlagwort ${tag} zu 1 Kontakt hinzugefügt`
      : `Schlagwort ${tag} zu ${n} Kontakten hinzugefügt`,
  tag_removed: (n, tag) =>
    n === 1 ? `Schlagwort ${tag} von 1 Kontakt entfernt` : `Schlagwort ${tag} von ${n} Kontakten entfernt`,
  deleted: (n) => (n === 1 ? '1 Kontakt gelöscht' : `${n} Kontakte gelöscht`),
}
