// The characters that search takes for equal, after Unicode's compatibility decomposition (NFKD) and lower case. The index
// stores what these lists give: a changed list needs a migration of the stored texts, as 0038 is (decision 0095).
// web/src/app/normalise.ts is the same file, and test/web/matching.test.ts compares them.

/** Letters and their plain spelling, by equal primary weights of CLDR's root collation. Also þ, ı and ŧ. */
const letters: Record<string, string> = {
  a: 'ꞛꟁ',
  aa: 'ꜳ',
  ae: 'æ',
  ao: 'ꜵ',
  au: 'ꜷ',
  av: 'ꜹꜻ',
  ay: 'ꜽ',
  d: 'đðꝺ',
  db: 'ȸ',
  dz: 'ʣ',
  f: 'ꝼ',
  g: 'ᵹꞡ',
  h: 'ħ',
  i: 'ı',
  k: 'ꞣ',
  l: 'ł',
  ll: 'ỻ',
  ls: 'ʪ',
  lz: 'ʫ',
  n: 'ꞥ',
  o: 'øꞝ',
  oe: 'œ',
  oo: 'ꝏ',
  qp: 'ȹ',
  r: 'ꝛꞃꞧ',
  s: 'ꞅꞩꟙ',
  ss: 'ß',
  t: 'ŧꞇ',
  th: 'þᵺ',
  ts: 'ƾʦ',
  tz: 'ꜩ',
  u: 'ꞟ',
  vy: 'ꝡ',
  w: 'ꟃ',
  zw: 'ƍ',
  // The final form of a Greek letter must match the form inside of a word.
  σ: 'ς',
}

/** Signs, and the one of the keyboard that stands for them. */
const signs: Record<string, string> = {
  // Quotation marks of CLDR's root collation and of Unicode's Quotation_Mark, without the brackets of Chinese and Japanese.
  // Of the apostrophe, also modifier letters, accents and primes that look like it (confusables of UTS #39).
  "'": '‘’‚‛‹›׳`´΄᾽′‵ʹʻʼʽʾʿˈˊˋ՚ߴߵꞌ',
  '"': '“”„‟«»״〝〞〟⹂ʺˮ',
  // Unicode's property Dash.
  '-': '‐‑‒–—―−⁓֊־᐀᠆⸗⸚⸺⸻⹀⹝〜〰゠\u{10d6e}\u{10ead}',
}

// Unicode's property Default_Ignorable_Code_Point: soft hyphens, joiners, marks of direction, variation selectors. Not U+FEFF,
// which JavaScript takes for white space.
export const invisible =
  '\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164' +
  '\\ufe00-\\ufe0f\\uffa0\\ufff0-\\ufff8\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}'

/** Characters that a search ignores, as the ranges of a regular expression. */
const ignored = [
  // Accents, and the points of Hebrew and Arabic: those without a primary weight in CLDR's root collation.
  '\\u0300-\\u036f\\u0483-\\u0487\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a\\u0640',
  '\\u064b-\\u0652\\u0656-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06e7\\u06e8\\u06ea-\\u06ed',
  invisible,
].join('')

const plain = new Map(
  Object.entries({ ...letters, ...signs }).flatMap(([one, equal]) =>
    [...equal].map((other): [string, string] => [other, one]),
  ),
)
const folded = new RegExp(`[${ignored}${[...plain.keys()].join('')}]`, 'gu')
// NFKD would make a space and an accent of them.
const spacing_accents = /[´΄᾽\u1ffd]/g

// Names, e-mail addresses and telephone numbers are not longer.
const max_sorted = 320
// Unicode's Stream-Safe Text Format has at most 30 in a run.
const long_run = /((?<!\p{M})\p{M}{31,})/u

/**
 * A normal form of a text. It sorts the marks behind a letter, in a time that grows with the square of their number. So a long
 * text keeps long runs of marks as they are.
 */
export const normalForm = (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string =>
  text.length <= max_sorted
    ? text.normalize(form)
    : text
        .split(long_run)
        .map((part, n) => (n % 2 ? part : part.normalize(form)))
        .join('')

// Most names. They have no such character, and the general way takes several times as long.
const is_plain = /^[\0-_a-\x7f]*$/

/** A text in lower case, without accents, with plain signs and letters (contract: lists). */
export function normaliseText(text: string): string {
  if (is_plain.test(text)) return text.toLowerCase()
  const folded_text = normalForm(text.replaceAll(spacing_accents, "'"), 'NFKD')
    .toLowerCase()
    .replaceAll(folded, (character) => plain.get(character) ?? '')
  return normalForm(folded_text, 'NFC')
}
