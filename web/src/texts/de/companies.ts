import type { companies as english } from '../en/companies.ts'

export const companies: typeof english = {
  open_website: (name) => `Website von ${name} öffnen`,
  set_industry: 'Branche setzen',
  industry_set: (n, written, industry) =>
    n === 1 ? `Branche ${industry} für 1 Firma gesetzt` : `Branche ${industry} für ${written} Firmen gesetzt`,
  industry_cleared: (n, written) =>
    n === 1 ? 'Branche von 1 Firma entfernt' : `Branche von ${written} Firmen entfernt`,
}
