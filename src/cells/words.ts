import { normalForm } from '../db/lists/normalise.ts'

// Codes, yes and no, and several values in one cell.

const yes = [
  'true',
  'yes',
  'y',
  '1',
  'on',
  'x',
  'done',
  'checked',
  'ja',
  'wahr',
  'j',
  'oui',
  'vrai',
  'sí',
  'si',
  'sì',
  'verdadero',
  'vero',
  'sim',
  'verdadeiro',
  'waar',
  'tak',
  't',
]
const no = [
  ...['false', 'no', 'n', '0', 'off', 'to do', 'nein', 'falsch', 'non', 'faux', 'falso'],
  ...['não', 'nee', 'onwaar', 'nie', 'f'],
]

/** Yes or no, in the words that spreadsheets and other programs write; null for another text. */
export function readBoolean(text: string): boolean | null {
  const word = normalForm(text.trim().toLowerCase(), 'NFC')
  return yes.includes(word) ? true : no.includes(word) ? false : null
}

/** A text without case, blanks, signs and accents' forms, to compare codes and labels: `New lead` is `new_lead`. */
export const folded = (text: string): string =>
  normalForm(text, 'NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

/** The code whose own text or label a text is, ignoring case, blanks and signs; null without exactly one. */
export function readCode(
  text: string,
  codes: ReadonlyMap<string, string>,
  known: readonly string[],
): string | null {
  if (known.includes(text)) return text
  return codes.get(folded(text)) ?? null
}

/** Codes by their folded texts. A text that two codes have is left out. */
export function codesBy(
  codes: readonly string[],
  labels: Readonly<Record<string, readonly string[]>> = {},
): Map<string, string> {
  return byTexts(
    codes.flatMap((code) => [code, ...(labels[code] ?? [])].map((text) => [text, code] as const)),
  )
}

/** Codes by their texts, folded. A text that two codes have is left out. */
export function byTexts(pairs: readonly (readonly [text: string, code: string])[]): Map<string, string> {
  const found = new Map<string, string>()
  const twice = new Set<string>()
  for (const [text, code] of pairs) {
    const key = folded(text)
    if (!key) continue
    if (found.has(key) && found.get(key) !== code) twice.add(key)
    else found.set(key, code)
  }
  for (const key of twice) found.delete(key)
  return found
}

// Without the look behind, each blank in a long run would be tried as its begin.
const withoutBrackets = (text: string) => text.replace(/(?<!\s)\s*\([^()]*\)\s*$/, '')

const by_label = new WeakMap<object, Map<string, unknown>>()

/** The value of a label, ignoring case, blanks, signs and what brackets add; undefined without one. */
export function labelled<T>(values: Readonly<Record<string, T>> | undefined, text: string): T | undefined {
  if (!values) return undefined
  const known =
    by_label.get(values) ?? new Map(Object.entries(values).map(([label, value]) => [folded(label), value]))
  by_label.set(values, known)
  const key = [text, withoutBrackets(text)].map(folded).find((one) => known.has(one))
  return key === undefined ? undefined : (known.get(key) as T)
}

/** The sign that Google writes between the values of a cell. */
const google = ' ::: '
// A slash or a bar separates numbers only with blanks, as in `030 1234567 / 030 7654321`. `030 / 1234567` is one number.
const separators = { email: / ::: |[;,|\s]+/, phone: / ::: |[;,\n\r]+|\s[/|]\s(?=\(?[+0])/ }
const digitsOf = (text: string) => text.match(/\d/g)?.length ?? 0
const looksLike = {
  email: (text: string) => /^[^\s@]+@[^\s@]+$/.test(text),
  phone: (text: string) => digitsOf(text) >= 3 && /^[\p{L}\d\s+().\-/*#:]+$/u.test(text),
}

/**
 * The values of a cell with several e-mail addresses or telephone numbers, separated by semicolons, commas, line ends or
 * Google's sign. A separator at an end is taken off. One value if a part does not look like one.
 */
export function severalOf(text: string, kind: keyof typeof looksLike): string[] {
  const between = separators[kind]
  if (!between.test(text)) return [text]
  const parts = text
    .split(between)
    .map((part) => part.trim())
    .filter(Boolean)
  // `+1 555 123 4567, ext. 890` is one number: behind a whole one, four digits are its extension.
  const [first = '', ...further] = parts
  const has_extension =
    kind === 'phone' &&
    digitsOf(first) > 6 &&
    !/ ::: |[\n\r]/.test(text) &&
    further.length > 0 &&
    further.every((part) => digitsOf(part) < 5)
  return parts.length && !has_extension && parts.every(looksLike[kind]) ? parts : [text]
}

/** The values of a cell that Google wrote. */
export const googleValues = (text: string): string[] =>
  text.includes(google)
    ? text
        .split(google)
        .map((part) => part.trim())
        .filter(Boolean)
    : [text]
