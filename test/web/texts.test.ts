// runs: once
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  argumentsOf,
  compileRoom,
  eachElement,
  type Messages,
  parseMessage,
} from '../../scripts/compile-messages.ts'
import { booking_folder, bookingTexts, readTexts } from '../../scripts/generate-texts.ts'
import { conflict_reasons } from '../../src/errors.ts'
import { attempt_error_codes } from '../../src/webhooks/delivery/connector.ts'
import { de, en } from './texts.ts'

/** The messages of an object, by their paths. */
function flat(messages: Messages, path: string): [path: string, message: string][] {
  return Object.entries(messages).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' ? [[`${path}.${key}`, value]] : flat(value, `${path}.${key}`),
  )
}

const texts = readTexts()
const booking = readTexts(booking_folder)
const languages = Object.entries(texts).map(
  ([language, rooms]) => [language, new Map(flat({ ...rooms, ...booking[language] }, language))] as const,
)

/** The arguments of a message with their types; the order does not matter. */
function signature(message: string): string[] {
  return [...argumentsOf(parseMessage(message))].map(([name, type]) => `${name}: ${type}`).sort()
}

test('every language has the same texts, and each message takes the same arguments', () => {
  const { en: english, ...others } = Object.fromEntries(languages)
  assert.ok(english && Object.keys(others).length)
  const shapeOf = (language: string, messages: Map<string, string>) =>
    [...messages].map(([path, message]) => [path.slice(language.length + 1), signature(message)]).sort()
  for (const [language, messages] of Object.entries(others))
    assert.deepEqual(shapeOf(language, messages), shapeOf('en', english), language)
})

test('the texts of the booking pages in the repository are those of their messages', () => {
  for (const [name, text] of bookingTexts())
    assert.equal(readFileSync(join(booking_folder, name), 'utf8'), text, `npm run types writes ${name}.`)
})

test('every plural has a text for each category of its language', () => {
  for (const [language, messages] of languages) {
    const { pluralCategories: needed } = new Intl.PluralRules(language).resolvedOptions()
    for (const [path, message] of messages)
      eachElement(parseMessage(message), (element) => {
        if (!('options' in element) || !('pluralType' in element)) return
        const cases = Object.keys(element.options).filter((one) => !one.startsWith('='))
        assert.deepEqual(cases.sort(), [...needed].sort(), path)
      })
  }
})

test('every text is used', () => {
  const names = globSync('web/src/**/*.{ts,tsx}').filter((name) => !name.startsWith('web/src/texts/'))
  const files = names.map((name) => readFileSync(name, 'utf8'))
  // The app reads some texts by the names that the API gives.
  const api = new Set(readFileSync('docs/openapi.json', 'utf8').match(/\w+/g))
  const isRead = (room: string, key: string) => {
    const at_once = new RegExp(`\\b${room}\\??\\.${key}\\b`)
    const apart = new RegExp(`\\b${room}\\b(?!\\??\\.\\w)`)
    const name = new RegExp(`(?<![\\w-])${key}(?![\\w-])`)
    return files.some(
      (file) => file.includes(key) && (at_once.test(file) || (apart.test(file) && name.test(file))),
    )
  }
  const { conflicts = {}, settings_conflicts = {}, ...rooms } = texts.en ?? {}
  const unused = Object.entries(rooms).flatMap(([room, messages]) =>
    Object.keys(messages).flatMap((key) => (isRead(room, key) || api.has(key) ? [] : `${room}.${key}`)),
  )
  assert.deepEqual(unused, [])
  assert.deepEqual(Object.keys({ ...conflicts, ...settings_conflicts }).sort(), [...conflict_reasons].sort())
})

test('a message writes numbers as its language does, and chooses the plural and the case', () => {
  assert.equal(en.deals.count({ n: 1 }), '1 deal')
  assert.equal(en.deals.count({ n: 1204 }), '1,204 deals')
  assert.equal(de.deals.count({ n: 1204 }), '1.204 Deals')
  assert.equal(en.notifications.title_with({ unread: 0 }), 'Notifications')
  assert.equal(en.webhooks.at_most({ n: 1, exact: false }), 'At most 1 record to check.')
  assert.equal(de.webhooks.at_most({ n: 2, exact: true }), '2 Einträge zu prüfen.')
  assert.equal(en.merges.moved_on({ kind: 'companies' }).slice(0, 26), 'This company was merged. H')
  const russian = compileRoom('ru', 'room', { n: '{n, plural, one {#} few {a} many {b} other {c}}' })
  assert.match(russian, /plural\(values\.n\) === "few" \? `a`/)
})

test('each reason why a busy calendar cannot be read has a text', () => {
  const codes = new Set([...attempt_error_codes, 'too_large', 'invalid_calendar'])
  // Of attempts alone.
  codes.delete('interrupted')
  assert.deepEqual(Object.keys(texts.en?.mail?.busy_errors ?? {}).sort(), [...codes].sort())
})

test('notifications have one word in the app and in mails', () => {
  const mails = globSync('src/texts/de/*.json').map((file) => readFileSync(file, 'utf8'))
  const app = new Map(languages).get('de') ?? new Map()
  const called = [...mails, ...app.values()].flatMap((text) => text.match(/Benachrichtigung\w*/) ?? [])
  assert.deepEqual(called, [])
})

test('a wrong, a missing and an unknown argument are type errors', () => {
  const calls = () =>
    [
      // @ts-expect-error
      en.app.column_moved({ name: 'Stage', at: 1 }),
      // @ts-expect-error
      en.app.column_moved({ name: 'Stage', at: '1', of: 2 }),
      // @ts-expect-error
      en.app.deleted({ name: 'Ana' }),
      // @ts-expect-error
      en.merges.moved_on({ kind: 'deals' }),
      // @ts-expect-error
      en.webhooks.at_most({ n: 1, exact: 'yes' }),
      // @ts-expect-error
      en.app.deleted,
    ] satisfies string[]
  assert.equal(calls().length, 6)
})

test('a message that the build cannot compile names its file and key', () => {
  const refused = (message: string) => () => compileRoom('en', 'deals', { won: { at: message } })
  assert.throws(refused('Won {when, date}'), /^Error: en\/deals\.json\.won\.at: .*Format dates in TypeScript/)
  assert.throws(refused('{n, plural, one {#}}'), /en\/deals\.json\.won\.at: /)
  assert.throws(refused('{n} of {n, number}'), /en\/deals\.json\.won\.at: \{n\} is string and number/)
})
