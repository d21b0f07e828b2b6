// runs: once
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  distinctTexts,
  emailKey,
  phoneKey,
  sameName,
  sameText,
  websiteKey,
  writtenForms,
} from './same-text.ts'
import { sortName } from './sort-names.ts'

const allSame = (key: (text: string) => string, texts: string[]) =>
  assert.deepEqual([...new Set(texts.map(key))].length, 1, JSON.stringify(texts.map(key)))
const allDiffer = (key: (text: string) => string, texts: string[]) =>
  assert.equal(new Set(texts.map(key)).size, texts.length, JSON.stringify(texts.map(key)))

describe('two texts are the same', () => {
  test('in composed and decomposed form, with any blanks, and with characters that nobody sees', () => {
    allSame(sameText, [
      'Café Ruiz',
      'Cafe\u0301 Ruiz',
      'Café\u00a0Ruiz',
      ' Café \t Ruiz',
      'Ca\u00adfé\u200b Ruiz\ufeff',
    ])
    allSame(sameText, ['Acme GmbH', '\u200eAcme\u202f GmbH\u2060', 'Acme\u3000GmbH', 'Acme\nGmbH'])
    allDiffer(sameText, ['Café', 'Cafe', 'café', 'Ca fé', 'ﬁ', 'fi', '1', '１'])
    assert.equal(sameName('ÉCOLE'), sameName('e\u0301cole'))
  })

  test('as e-mail addresses in any form of their domain; only A to Z of the local part ignore case', () => {
    allSame(emailKey, [
      'Ana@müller.example',
      'ana@MÜLLER.example',
      'ana@xn--mller-kva.example',
      'ana@XN--MLLER-KVA.Example',
      'ana@mu\u0308ller.example',
      'ana\u200b@müller.example\u200e',
    ])
    allDiffer(emailKey, ['ä@a.example', 'Ä@a.example', 'a@ä.example', 'a@a.example'])
    assert.equal(emailKey('ANA@ACME.example'), 'ana@acme.example')
  })

  test('as telephone numbers with any separators, and with 00 or + before the calling code', () => {
    allSame(phoneKey, [
      '+49 30 1234567',
      '0049 30 1234567',
      '+49 (30) 123-4567',
      '+49 (0)30 1234567',
      '0049 (0) 30/123.45-67',
      '(+49) (0)30 1234567',
      '\u202a+49\u00a030\u20111234567\u202c',
      '＋４９ ３０ １２３４５６７',
    ])
    allDiffer(phoneKey, ['+49 30 1234567', '030 1234567', '+49 40 1234567', '30 1234567'])
  })

  test('as websites with and without the scheme, www. and the last slash', () => {
    allSame(websiteKey, [
      'acme.example',
      'www.acme.example',
      'http://acme.example/',
      'https://www.acme.example',
      'HTTPS://WWW.Acme.Example/',
    ])
    allSame(websiteKey, ['https://müller.example/', 'xn--mller-kva.example'])
    allSame(websiteKey, ['https://acme.example/Shop/', 'acme.example/shop'])
    allDiffer(websiteKey, [
      'acme.example',
      'acme.example/shop',
      'shop.acme.example',
      'www.example',
      'example',
    ])
  })
})

const unseen = fc.constantFrom('', '\u200b', '\u00ad', '\u200e', '\ufeff', '\u2060')
const blank = fc.constantFrom(' ', '\u00a0', '\t', '  ', '\u202f', '\u3000')
const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })

test('a text written in another form has the same key, and the same place in lists', () => {
  const parts = fc.array(fc.record({ word, unseen, blank, composed: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  })
  fc.assert(
    fc.property(parts, (all) => {
      const plain = all.map((one) => one.word).join(' ')
      const other = all
        .map((one) => one.unseen + one.word.normalize(one.composed ? 'NFC' : 'NFD') + one.unseen)
        .join(all[0]?.blank)
      assert.equal(sameText(other), sameText(plain))
      assert.equal(sameText(sameText(other)), sameText(other))
      assert.equal(sortName(other), sortName(plain))
    }),
  )
})

test('a text is looked for in the forms in which programs write it, with its blanks and without', () => {
  const forms = writtenForms('Cafe\u0301  Bar')
  for (const form of ['Cafe\u0301  Bar', 'Café  Bar', 'Café Bar', 'Cafe\u0301 Bar'])
    assert.ok(forms.includes(form))
})

test('of texts that are the same, a list keeps the first', () => {
  assert.deepEqual(distinctTexts(['Café', 'VIP', 'Cafe\u0301', 'vip', 'VIP\u200b']), ['Café', 'VIP', 'vip'])
})
