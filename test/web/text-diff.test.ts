// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { diffTexts } from '../../web/src/record/notes/text-diff.ts'
import { cpuTime } from '../calm-time.ts'

const words = fc.array(fc.constantFrom('one', 'two', ' ', '\n', '.', 'é', '😀', 'Łódź'), { maxLength: 40 })
const text = words.map((parts) => parts.join(''))

test('the parts of two texts make both texts again, whatever they are', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const parts = diffTexts(before, after)
      const without = (side: string) => parts.flatMap(({ of, text }) => (of === side ? [] : [text])).join('')
      assert.equal(without('after'), before)
      assert.equal(without('before'), after)
    }),
  )
})

test('a changed word is one part lost and one gained, and the rest is common', () => {
  assert.deepEqual(diffTexts('Decides in May, she says.', 'Decides in June, she says.'), [
    { of: 'both', text: 'Decides in ' },
    { of: 'before', text: 'May' },
    { of: 'after', text: 'June' },
    { of: 'both', text: ', she says.' },
  ])
})

test('changed words with only a blank between them are one change', () => {
  assert.deepEqual(diffTexts('A site next year, with 40.', 'A site in March, with 60.'), [
    { of: 'both', text: 'A site ' },
    { of: 'before', text: 'next year' },
    { of: 'after', text: 'in March' },
    { of: 'both', text: ', with ' },
    { of: 'before', text: '40' },
    { of: 'after', text: '60' },
    { of: 'both', text: '.' },
  ])
})

test('two long texts that differ throughout are compared within 1 s', async () => {
  const long = (word: string) => `${word} `.repeat(8000)
  const cpu_ms = await cpuTime(() =>
    assert.deepEqual(
      diffTexts(long('one'), long('two')).map(({ of }) => of),
      ['before', 'after', 'both'],
    ),
  )
  assert.ok(cpu_ms < 1000, `${cpu_ms} ms`)
})
