// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { keywordsOf } from '../../web/src/app/keywords.ts'
import { matching } from '../../web/src/app/matching.ts'
import { includesText, loadEqualCharacters } from '../../web/src/app/plain-text.ts'

before(loadEqualCharacters)

const named = (...names: string[]) => names.map((name) => ({ name }))
const namesFor = (text: string, items: readonly { name: string }[]) =>
  matching(text, items).map(({ name }) => name)

// As the palette lists them in English.
const commands = [
  ...[
    ['go-/', 'Go to Home'],
    ['go-/contacts', 'Go to Contacts'],
    ['go-/companies', 'Go to Companies'],
    ['go-/deals', 'Go to Deals'],
    ['go-/activities', 'Go to Activities'],
    ['go-/calendar', 'Go to Calendar'],
    ['go-trash', 'Go to Trash'],
    ['go-audit_log', 'Go to Audit log'],
    ['go-settings', 'Go to Settings'],
    ['go-profile', 'Go to Profile'],
    ['go-workspace', 'Go to General'],
    ['go-members', 'Go to Members'],
    ['go-keys', 'Go to API keys'],
    ['go-webhooks', 'Go to Webhooks'],
    ['go-deliveries', 'Go to Delivery log'],
    ['create-contacts', 'Create contact'],
    ['create-keys', 'Create API key'],
    ['create-webhooks', 'Create webhook'],
    ['appearance-dark', 'Appearance: Dark'],
    ['appearance-light', 'Appearance: Light'],
    ['sign-out', 'Sign out'],
    ['sheet', 'Keyboard shortcuts'],
    ['export-contacts', 'Export contacts'],
  ],
].map(([id = '', name = '']) => ({ id, name, keywords: keywordsOf(id) }))
const first = (text: string) => matching(text, commands)[0]?.id

test('commands are found by the words of the trade and by those of the other language', () => {
  const table: [string, string][] = [
    ['webhook', 'go-webhooks'],
    ['delivery log', 'go-deliveries'],
    ['log delivery', 'go-deliveries'],
    ['dark', 'appearance-dark'],
    ['night', 'appearance-dark'],
    ['dunkel', 'appearance-dark'],
    ['API key', 'go-keys'],
    ['new api key', 'create-keys'],
    ['token', 'go-keys'],
    ['schlüssel', 'go-keys'],
    ['zustellprotokoll', 'go-deliveries'],
    ['papierkorb', 'go-trash'],
    ['einstellungen', 'go-settings'],
    ['team', 'go-members'],
    ['password', 'go-profile'],
    ['sprache', 'go-profile'],
    ['währung', 'go-workspace'],
    ['pipeline', 'go-/deals'],
    ['firmen', 'go-/companies'],
    ['aufgaben', 'go-/activities'],
    ['termine', 'go-/calendar'],
    ['logout', 'sign-out'],
    ['abmelden', 'sign-out'],
    ['new contact', 'create-contacts'],
    ['csv', 'export-contacts'],
    ['tastatur', 'sheet'],
  ]
  for (const [text, id] of table) assert.equal(first(text), id, text)
})

test('one wrong, missing, extra or swapped letter still finds the command', () => {
  const table: [string, string][] = [
    ['webhok', 'go-webhooks'],
    ['webbhook', 'go-webhooks'],
    ['wenhook', 'go-webhooks'],
    ['ewbhook', 'go-webhooks'],
    ['delivrey log', 'go-deliveries'],
    ['dlivery', 'go-deliveries'],
    ['setings', 'go-settings'],
    ['calender', 'go-/calendar'],
    ['contcats', 'go-/contacts'],
    ['conatct', 'go-/contacts'],
    ['papierkrob', 'go-trash'],
    ['drak', 'appearance-dark'],
    ['darkk', 'appearance-dark'],
  ]
  for (const [text, id] of table)
    assert.ok(
      matching(text, commands).some((command) => command.id === id),
      `${text}: ${matching(text, commands).map((one) => one.id)}`,
    )
})

test('short words, two wrong letters and nothing like it find nothing', () => {
  for (const text of ['kex', 'dar x', 'wbhok', 'qqqq', 'invoice', 'no such thing anywhere', 'Åsa'])
    assert.deepEqual(namesFor(text, commands), [], text)
})

test('what matches exactly hides what nearly does', () => {
  assert.deepEqual(namesFor('team', named('Term sheet', 'Team', 'Steam')), ['Team', 'Steam'])
  assert.deepEqual(namesFor('deals', named('Meals', 'Big deals')), ['Big deals'])
  // Names come before keywords: the delivery log has the keyword webhook.
  assert.deepEqual(
    matching('webhok', commands).map(({ id }) => id),
    ['create-webhooks', 'go-webhooks', 'go-deliveries'],
  )
  const few = matching('contcats', commands)
  assert.ok(few.length <= 3, few.map(({ name }) => name).join())
})

test('the beginning of the name comes first, then of a word, then the inside, then keywords', () => {
  const items = [
    { name: 'Inbox', keywords: 'mail' },
    { name: 'Gmailer' },
    { name: 'New mail' },
    { name: 'Mail' },
  ]
  assert.deepEqual(namesFor('mail', items), ['Mail', 'New mail', 'Gmailer', 'Inbox'])
  assert.deepEqual(namesFor('angstrom zoe', named('Zoë Ångström', 'Zoe Angel')), ['Zoë Ångström'])
  assert.equal(namesFor('', items).length, 4)
})

test('a name is found by each spelling of its signs, dashes and ligatures, as the service finds it', () => {
  const spelt = named("Conor O'Neil", 'Jean–Luc Œuvre', 'Griﬃn “North”', 'हिन्दी ガ')
  for (const text of ['o’neil', 'OʼNEIL', "o'n"])
    assert.deepEqual(namesFor(text, spelt), ["Conor O'Neil"], text)
  for (const text of ['jean-luc', 'luc oeuvre'])
    assert.deepEqual(namesFor(text, spelt), ['Jean–Luc Œuvre'], text)
  for (const text of ['griffin', '"north"']) assert.deepEqual(namesFor(text, spelt), ['Griﬃn “North”'], text)
  assert.deepEqual(namesFor('हिन्दी', spelt), ['हिन्दी ガ'])
  assert.ok(includesText('data.custom_fields.Maße–neu', ' masse-NEU '))
})

test('the service and the app have one list of equal characters', () => {
  const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  assert.equal(textOf('web/src/app/normalise.ts'), textOf('src/db/lists/normalise.ts'))
})
