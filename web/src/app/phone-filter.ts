// Calling codes of countries, without those of most small ones: a filter has at most 100 values.
const calling_codes = (
  '1 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 54 55 56 57 60 61 62 63 64 65 66 7 81 82 84 86 ' +
  '90 91 92 212 216 234 254 351 352 353 354 356 357 358 359 370 371 372 380 381 385 386 420 421 423 852 886 966 971 972'
).split(' ')
// Countries whose numbers keep their 0, or are often stored with it, such as +49 (0)30 1234567.
const calling_codes_with_zero = ['39', '41', '43', '44', '49']

/**
 * The values of a filter that finds a typed telephone number, with or without the calling code of its country. The API
 * ignores blanks and signs. Null if the text is not a number, or has fewer than 6 or more than 15 digits. A leading
 * 00 does not count then.
 */
export function phoneFilter(text: string): string | null {
  const number = text
    .normalize('NFKC')
    .replaceAll(/[\p{Z}\p{Pd}\p{Cf}\u2212./]/gu, '')
    // The 0 that callers from abroad leave out.
    .replace(/^(\(?(?:\+|00).{1,5}?)\(0\)/, '$1')
    .replaceAll(/[()]/g, '')
  if (!/^(?:\+|00)?\d{6,15}$/.test(number)) return null
  const [, international] = /^(?:\+|00)(.*)/.exec(number) ?? []
  if (international === undefined) {
    const national = number.replace(/^0/, '')
    const with_zero = number === national ? [] : calling_codes_with_zero.map((code) => code + number)
    return [number, ...calling_codes.map((code) => code + national), ...with_zero].join()
  }
  const others = calling_codes
    .filter((code) => international.startsWith(code))
    .map((code) => [code, international.slice(code.length)])
    .flatMap(([code, rest]) => [`0${rest}`, rest, `${code}0${rest}`])
  return [international, `00${international}`, ...others].join()
}
