import { invisible, normalForm } from './normalise.ts'

// Whether two texts are the same. Each function gives a key: texts with equal keys are the same. The database stores keys, so a
// change here needs a migration of them, as 0044 is (decision 0102).

// Most texts. The general way takes several times as long.
const is_plain = /^[!-~]+(?: [!-~]+)*$/
const is_ascii = /^[\0-\x7f]*$/
const unseen = new RegExp(`[${invisible}\\ufeff]`, 'gu')

/** A text without the characters that nobody sees, such as soft hyphens and marks of direction. */
export const withoutUnseen = (text: string): string =>
  is_ascii.test(text) ? text : text.replaceAll(unseen, '')

/** The key of a text: composed (NFC), without characters that nobody sees, with one space for all blanks between words. */
export const sameText = (text: string): string =>
  is_plain.test(text) ? text : normalForm(withoutUnseen(text), 'NFC').replaceAll(/\s+/g, ' ').trim()

/** The forms in which programs write a text, for a column without keys. */
export const writtenForms = (text: string): string[] => [
  ...new Set([text, sameText(text)].flatMap((one) => [one, one.normalize('NFC'), one.normalize('NFD')])),
]

/** The key of a name, without case. */
export const sameName = (name: string): string => sameText(name).toLowerCase()

/** The texts of a list whose keys differ: of equal ones, the first. */
export function distinctTexts(texts: readonly string[]): string[] {
  const found = new Map<string, string>()
  for (const text of texts) {
    const key = sameText(text)
    if (!found.has(key)) found.set(key, text)
  }
  return [...found.values()]
}

/** A text with A to Z in lower case. */
export const lowerCased = (text: string): string =>
  is_ascii.test(text) ? text.toLowerCase() : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** A domain in lower case and in its IDNA form, such as `xn--mller-kva.example`. */
const domainKey = (domain: string): string =>
  (is_ascii.test(domain) ? null : URL.parse(`http://${domain}`)?.host) || domain.toLowerCase()

/** The key of an e-mail address. Only A to Z of its local part ignore case. */
export function emailKey(email: string): string {
  const text = sameText(email)
  const at = text.lastIndexOf('@') + 1
  return lowerCased(text.slice(0, at)) + domainKey(text.slice(at))
}

const blanks_and_signs = /[\s\p{Z}\p{Pd}\u2212./]/gu
// Callers from abroad leave this 0 out.
const trunk_zero = /^(\(?(?:\+|00)\d{1,3}\)?)\(0\)/

const compact = (phone: string) => withoutUnseen(normalForm(phone, 'NFKC')).replaceAll(blanks_and_signs, '')

/** A text without the separators of telephone numbers. */
export const withoutSeparators = (text: string): string => compact(text).replaceAll(/[()+]/g, '')

// Most numbers. The general way takes several times as long.
const is_plain_number = /^\+?[1-9][\d -]*$/

/** The key of a telephone number: without separators, and without the + or 00 before its calling code. */
export function phoneKey(phone: string): string {
  if (is_plain_number.test(phone)) return phone.replaceAll(/[+ -]/g, '')
  return compact(phone)
    .replace(trunk_zero, '$1')
    .replaceAll(/[()]/g, '')
    .replace(/^00/, '')
    .replaceAll('+', '')
}

/** The key of the address of a website: without its scheme, `www.`, and the slash at its end. */
export function websiteKey(website: string): string {
  const [, , host = '', rest = ''] =
    /^(https?:\/\/)?(?:www\.(?=[^/?#]+\.))?([^/?#]*)(.*)$/is.exec(sameText(website)) ?? []
  return (domainKey(host) + lowerCased(rest)).replace(/\/$/, '')
}

/** The fields with a key of their own, in a column such as `email_key`. */
export type KeyedField = 'email' | 'phone' | 'website'
export const keyOf: Record<KeyedField, (value: string) => string> = {
  email: emailKey,
  phone: phoneKey,
  website: websiteKey,
}
