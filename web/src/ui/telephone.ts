/** The address that calls a number; null if the text has no digit. */
export function telephoneOf(text: string | null): string | null {
  // The zero of “+49 (0)30” is dialled in the country alone, as in the service (db/lists/same-text.ts).
  const close = (text ?? '').replaceAll(/[\s\p{Pd}./]/gu, '')
  const dialled = close.replace(/^(\(?(?:\+|00)\d{1,3}\)?)\(0\)/, '$1')
  const number = dialled.replaceAll(/[^\d+*#]/g, '')
  return /\d/.test(number) ? `tel:${number}` : null
}
