// Calling codes of countries, without those of most small ones: a filter has at most 100 values.
const calling_codes = (
  '1 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 54 55 56 57 60 61 62 63 64 65 66 7 81 82 84 86 ' +
  '90 91 92 212 216 234 254 351 352 353 354 356 357 358 359 370 371 372 380 381 385 386 420 421 423 852 886 966 971 972'
).split(' ')
const shortest = 6

/**
 * The values of a filter that finds a typed telephone number, with or without the calling code of its country. The API
 * ignores blanks and signs. Null if the text is not a number, or has fewer than 6 digits.
 */
export function phoneFilter(text: string): string | null {
  const number = text.normalize('NFKC').replaceAll(/[\p{Z}\p{Pd}\p{Cf}\u2212()./]/gu, '')
  if (!/^\+?\d+$/.test(number) || number.length < shortest) return null
  const [, international] = /^(?:\+|00)(.*)/.exec(number) ?? []
  if (international === undefined) {
    const national = number.replace(/^0/, '')
    return [number, ...calling_codes.map((code) => code + national)].join()
  }
  const rests = calling_codes
    .filter((code) => international.startsWith(code))
    .map((code) => international.slice(code.length))
  return [international, `00${international}`, ...rests.flatMap((rest) => [`0${rest}`, rest])].join()
}
