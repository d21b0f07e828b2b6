import type { contacts as english } from '../en/contacts.ts'

export const contacts: typeof english = {
  write_email: (name) => `E-Mail an ${name} schreiben`,
  set_stage: 'Phase setzen',
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
}
