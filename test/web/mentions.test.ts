// runs: once
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { finderOf } from '../../src/events/mentions.ts'
import { loadEqualCharacters } from '../../web/src/app/plain-text.ts'
import {
  completed,
  mentionedBy,
  mentionOf,
  offered,
  splitMentions,
  writtenAt,
} from '../../web/src/record/notes/mentions.ts'

before(loadEqualCharacters)

const member = (name: string, email: string) => ({ id: `usr_${email.split('@')[0]}`, name, email })
const jo = member('Jo', 'jo@acme.example')
const jo_weiss = member('Jo Weiß', 'weiss@acme.example')
const zoe = member("Zoë O'Brien (Sales)", 'zoe.obrien@acme.example')
const grace = member('Grace Hopper', 'grace@acme.example')
const other_grace = member('grace hopper', 'hopper@acme.example')
const eva = { ...member('Eva Öztürk', 'eva@acme.example'), former_names: ['Eva Brandt', 'Jo'] }
const nikos = member('ΝΊΚΟΣ', 'nikos@acme.example')
const all = [jo, jo_weiss, zoe, grace, other_grace, eva, nikos]

test('what the app shows as a mention is what the service notifies of', () => {
  const texts: [string, string[]][] = [
    ['@Jo and @jo weiß.', ['@Jo', '@jo weiß']],
    ["(@Zoë O'Brien (Sales)), call!", ["@Zoë O'Brien (Sales)"]],
    ['Ask @weiss@acme.example', ['@weiss@acme.example']],
    ['jo@jo.example @Jo-Ann @Josefine @Jo.example @@Jo @ Jo x@Jo', []],
    ['@Jo, @Jo', ['@Jo', '@Jo']],
    ['@jo@acme.examples', []],
    ['@Grace Hopper', ['@Grace Hopper']],
    ['@Eva Brandt, @Eva Öztürk', ['@Eva Brandt', '@Eva Öztürk']],
    ["@Νίκος and @ΝΊΚΟΣ's @ΝΊΚΟΣΑ", ['@Νίκος', '@ΝΊΚΟΣ']],
    ['@Zoe O’Brien (Sales), @zoe o`brien (sales)', ['@Zoe O’Brien (Sales)', '@zoe o`brien (sales)']],
    ['@Jo Weiss–and @JO WEISS—or @Joel Weiss', ['@Jo Weiss', '@JO WEISS']],
    ['@Zoe\u0308 O′Brien (Sales) @Ｊｏ @J\u00ado', ['@Zoe\u0308 O′Brien (Sales)', '@Ｊｏ', '@J\u00ado']],
    ['@Gra\u00adce Hop\u00adper', ['@Gra\u00adce Hop\u00adper']],
    ['', []],
  ]
  for (const [text, mentions] of texts) {
    const shown = splitMentions(text, all).filter((_, index) => index % 2)
    assert.equal(splitMentions(text, all).join(''), text)
    assert.deepEqual(shown, mentions, text)
    const ids = mentions.flatMap((mention) => mentionedBy(mention.slice(1), all).found.map(({ id }) => id))
    assert.deepEqual([...finderOf(all)(text)].sort(), [...new Set(ids)].sort(), text)
  }
  assert.deepEqual([...finderOf(all)('@Grace Hopper')], [grace.id, other_grace.id])
  // A present name comes before a former one.
  assert.deepEqual([...finderOf(all)('@Eva Brandt and @Jo')], [eva.id, jo.id])
  assert.deepEqual(splitMentions('@Jo', []), ['@Jo'])
})

test('members are offered while a mention is written, and by the start of any word', () => {
  const at = (text: string) => writtenAt(text, text.length)
  assert.deepEqual(at('Ask @'), { at: 4, query: '' })
  assert.deepEqual(at('Ask @Jo We'), { at: 4, query: 'Jo We' })
  for (const text of [
    'Ask',
    'jo@',
    'jo@acme',
    '@ ',
    '@Jo\n',
    '@@',
    `@${'x'.repeat(80)}`,
    `x@${'x'.repeat(60)}`,
  ])
    assert.equal(at(text), null, text)
  assert.deepEqual(writtenAt('Ask @Jo now', 7), { at: 4, query: 'Jo' })
  const names = (query: string) => offered(all, query).map(({ name }) => name)
  for (const query of ['O’Br', 'zoe o']) assert.deepEqual(names(query), ["Zoë O'Brien (Sales)"], query)
  assert.deepEqual(names('jo'), ['Jo', 'Jo Weiß'])
  assert.deepEqual(names('WEI'), ['Jo Weiß'])
  assert.deepEqual(names("o'b"), ["Zoë O'Brien (Sales)"])
  assert.deepEqual(names('hopper@'), ['grace hopper'])
  assert.deepEqual(names('Jo Weiß '), [])
  assert.deepEqual(names('rien'), [])
})

test('a completed mention has one space after it, and an address where two members have one name', () => {
  const ask = (text: string, caret = text.length) => {
    const written = writtenAt(text, caret)
    assert.ok(written)
    return completed(text, written, '@Jo Weiß')
  }
  assert.deepEqual(ask('Ask @we'), { text: 'Ask @Jo Weiß ', caret: 13 })
  assert.deepEqual(ask('Ask @we now', 7), { text: 'Ask @Jo Weiß now', caret: 13 })
  assert.deepEqual([mentionOf(jo, all), mentionOf(grace, all)], ['@Jo', '@grace@acme.example'])
})
