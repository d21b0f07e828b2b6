// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullName } from '../../web/src/ui/full-name.ts'
import { visible } from '../../web/src/ui/visible.ts'

test('a character that reorders or hides text is shown by its number', () => {
  const table: [string, string][] = [
    ['invoice\u202efdp.exe', 'invoice[U+202E]fdp.exe'],
    ['\u2066Anna\u2069', '[U+2066]Anna[U+2069]'],
    ['ad\u200bmin', 'ad[U+200B]min'],
    ['a\u0000b\u009fc\ufeff', 'a[U+0000]b[U+009F]c[U+FEFF]'],
    ['co\u00adop', 'co[U+00AD]op'],
  ]
  for (const [text, shown] of table) assert.equal(visible(text), shown)
  assert.equal(fullName({ first_name: 'Eve\u202e', last_name: 'Moor' }), 'Eve[U+202E] Moor')
})

test('names of any script, emojis and line breaks stay as they are', () => {
  for (const text of [
    'محمد علی',
    'می\u200cخواهم',
    'שרה \u200fכהן',
    '👩\u200d💻',
    'Zoë Ångström',
    'two\nlines\tand',
  ])
    assert.equal(visible(text), text)
})
