import type { contacts as english } from '../en/contacts.ts'

export const contacts: typeof english = {
  no_stage: 'Ohne Phase',
  same_email: 'Diese E-Mail hat schon ein anderer Kontakt:',
  call: (name) => `${name} anrufen`,
  write_email: (name) => `E-Mail an ${name} schreiben`,
  call_someone: 'Kontakt der Firma anrufen',
  write_someone: 'E-Mail an einen Kontakt der Firma schreiben',
  set_stage: 'Phase setzen',
  stage_set: (n, written, stage) =>
    n === 1 ? `Phase ${stage} für 1 Kontakt gesetzt` : `Phase ${stage} für ${written} Kontakte gesetzt`,
  stage_cleared: (n, written) =>
    n === 1 ? 'Phase von 1 Kontakt entfernt' : `Phase von ${written} Kontakten entfernt`,
}
