// runs: once
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { normalised as released } from '../migrations/0037_baseline.ts'
import { normaliseText } from './normalise.ts'

describe('normaliseText', () => {
  const folded = {
    'José NÚÑEZ': 'jose nunez',
    'Zoë Ångström': 'zoe angstrom',
    'Weiß GROẞ': 'weiss gross',
    'Łukasz Żółć': 'lukasz zolc',
    'Æther Œuvre ǽ': 'aether oeuvre ae',
    'Søren Ðuro Đorđe Þór': 'soren duro dorde thor',
    'İstanbul Iğdır': 'istanbul igdir',
    'Nguyễn Thị Hương': 'nguyen thi huong',
    'ΟΔΥΣΣΕΥΣ Οδυσσεύς': 'οδυσσευσ οδυσσευσ',
    'Сергей ЁЛКИН': 'сергеи елкин',
    '\uff21\uff42\uff43 \ufb01n': 'abc fin',
    "O’Neil O'neil ŉ": "o'neil o'neil 'n",
    '„Alpha“ «Beta» ״': '"alpha" "beta" "',
    'Jean–Luc — 2−1 －': 'jean-luc - 2-1 -',
    'Soft\u00ad\u200bly ❤\ufe0f': 'softly ❤',
    'ꜳ ꝏ ȸ': 'aa oo db',
    'שָׁלוֹם مُحَمَّد': 'שלום محمد',
    '100% a_b \\ (c)*': '100% a_b \\ (c)*',
    한국어: '한국어',
    ガギグ: 'ガギグ',
    हिन्दी: 'हिन्दी',
  }
  for (const [text, expected] of Object.entries(folded))
    test(`takes ${text} for ${expected}`, () => assert.equal(normaliseText(text), expected))

  test('gives the same for composed and decomposed spelling, and for its own result', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    fc.assert(
      fc.property(text, (raw) => {
        assert.equal(normaliseText(raw.normalize('NFD')), normaliseText(raw.normalize('NFC')))
        assert.equal(normaliseText(normaliseText(raw)), normaliseText(raw))
      }),
      { numRuns: 2000 },
    )
  })
})

// Signs, letters with several spellings, characters that are ignored, and white space.
const units = [
  ...`aAonNeilfst -_%\\"'*.,/ \t\u00a0\u3000\ufeff\u00ad\u200b\u200d\u034f\u0640`,
  ...'‘’‚‛“”„«»‹›ʻʼ′″ŉ‐‑–—―−〜ﬁﬀæœßſłøđıİςΣéÅ王ガ가ŀ…½™㎏ﷺ',
  ...['e\u0301', '\u0338', '\u3099', '\u05b8', '\u064e', '❤\ufe0f', '👩\u200d💻'],
]
const unit = fc.oneof(fc.constantFrom(...units), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
const text = fc.array(unit, { maxLength: 12 }).map((all) => all.join(''))

test('a query finds what it found before the lists of equal signs', () => {
  const finds = (normalise: (text: string) => string, query: string, name: string) => {
    const words = normalise(query).split(/\s+/).filter(Boolean)
    return words.every((word) => normalise(name).includes(word))
  }
  // A spacing accent was a space and an accent.
  const withoutAccents = (given: string) => given.replaceAll(/[´΄᾽\u1ffd]/g, '')
  const part = fc.tuple(text, fc.nat(), fc.nat(12)).map(([name, from, length]): [string, string] => {
    const all = [...withoutAccents(name)]
    return [
      all.join(''),
      all
        .slice(from % (all.length || 1))
        .slice(0, length)
        .join(''),
    ]
  })
  fc.assert(
    fc.property(part, fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD'), ([name, query], form) => {
      const asked = query.normalize(form)
      if (finds(released, asked, name))
        assert.ok(finds(normaliseText, asked, name), JSON.stringify([name, asked]))
    }),
    { numRuns: 20_000 },
  )
})

test('the lists have the dashes, the ignorable characters and the quotation marks of Unicode', () => {
  const brackets = /[「」『』﹁﹂﹃﹄｢｣]/u
  for (let point = 0x80; point < 0x20000; point++) {
    const one = String.fromCodePoint(point)
    if (/\p{Dash}/u.test(one)) assert.equal(normaliseText(one), '-', one)
    if (/\p{Quotation_Mark}/u.test(one) && !brackets.test(one))
      assert.match(normaliseText(one), /^['"]$/, one)
    if (/\p{Default_Ignorable_Code_Point}/u.test(one) && one !== '\ufeff')
      assert.equal(normaliseText(one), '', point.toString(16))
  }
})
