/** The address that calls a number; null if the text has no digit. */
export function telephoneOf(text: string | null): string | null {
  const number = (text ?? '').replaceAll(/[^\d+*#]/g, '')
  return /\d/.test(number) ? `tel:${number}` : null
}
