import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conflict_reasons, field_codes, statuses } from '../../src/errors.ts'
import { row_problems } from '../../src/files/rows.ts'
import { formats } from '../../src/http/formats.ts'
import { link_codes } from '../../src/imports/errors.ts'
import { Problem } from '../../web/src/api/problem.ts'
import { explain } from '../../web/src/app/explain.ts'
import { errorsIn, rowMessage } from '../../web/src/imports/row-errors.ts'
import { de, en } from './texts.ts'

// The numbers and names of all reasons together.
const facts = { most: 100, days: 30, count: 12, workspaces: 'Harbour AG', field: 'custom_fields.code' }
const unsaid = 'A sentence of the service.'

function said(problem: Partial<Problem> & Pick<Problem, 'code'>): [english: string, german: string] {
  const whole = Object.assign(new Problem(409, problem.code, unsaid), problem)
  const texts = [explain(whole, en), explain(whole, de)] as [string, string]
  for (const text of texts) assert.doesNotMatch(text, /undefined|NaN|^$/, JSON.stringify(problem))
  return texts
}

test('each error of the API has a sentence in English and German', () => {
  const codes = Object.keys(statuses).filter((code) => code !== 'conflict')
  const problems = [
    ...codes.map((code) => ({ code })),
    ...conflict_reasons.map((reason) => ({ code: 'conflict', reason, facts })),
    ...field_codes.map((code) => {
      const field = { field: 'name', code, message: unsaid }
      return { code: 'validation_failed', fields: [field] }
    }),
  ]
  for (const problem of problems) {
    const [english, german] = said(problem)
    assert.notEqual(english, unsaid, JSON.stringify(problem))
    assert.notEqual(german, unsaid, JSON.stringify(problem))
    assert.notEqual(german, english, JSON.stringify(problem))
  }
})

// An import never answers a row with these codes.
const of_other_actions = new Set([
  'merge_too_old',
  'only_owner',
  'too_many_busy_calendars',
  'too_many_changes',
  'too_many_feeds',
  'too_many_imports',
  'too_many_keys',
  'too_many_pending',
  'too_many_webhooks',
  'too_many_workspaces',
])

test('each error of an import has a sentence in English and German', () => {
  const of_rows = ['not_found', 'conflict', 'validation_failed', 'erased', ...row_problems, ...link_codes]
  const codes = [...field_codes, ...conflict_reasons, ...of_rows]
  for (const code of codes.filter((one) => !of_other_actions.has(one))) {
    const error = { field: 'email', code, message: unsaid }
    const [english, german] = [rowMessage(error, en), rowMessage(error, de)]
    assert.notEqual(english, unsaid, code)
    assert.notEqual(german, unsaid, code)
    assert.notEqual(german, english, code)
  }
})

test('an error of an import has the numbers and the place of its message, and without a code the message itself', () => {
  const file = [
    'row,field,message,content,code',
    '3,first_name,first_name must have at most 255 characters.,"Zoë,Day",too_long',
    '9,owner_id,"contacts-0001.ndjson, line 12: No member.",{},no_such_member',
    '11,,Something else.,x,',
    '',
  ].join('\r\n')
  const rows = errorsIn(file)
  assert.deepEqual(
    rows.map((row) => rowMessage(row, de)),
    [
      'Höchstens 255 Zeichen.',
      `contacts-0001.ndjson, Zeile 12: ${de.imports.row_problems.no_such_member}`,
      'Something else.',
    ],
  )
  assert.deepEqual(
    rows.map(({ row, content }) => [row, content]),
    [
      ['3', 'Zoë,Day'],
      ['9', '{}'],
      ['11', 'x'],
    ],
  )
})

test('a sentence has the numbers and names of its error', () => {
  const table: [Partial<Problem> & Pick<Problem, 'code'>, string][] = [
    [{ code: 'conflict', reason: 'too_many_keys', facts }, 'höchstens 100 API-Schlüssel'],
    [{ code: 'conflict', reason: 'unique_value_taken', facts }, 'denselben Wert: code.'],
    [{ code: 'conflict', reason: 'only_owner', facts }, 'Harbour AG gehört Ihnen allein.'],
    [{ code: 'conflict', reason: 'values_break_definition', facts }, '12 vorhandene Werte'],
    [{ code: 'rate_limited', retry_after_s: 40 }, 'in 40 s'],
    [
      {
        code: 'conflict',
        reason: 'merge_taken_back',
        facts: { because: 'required', field: 'custom_fields.region' },
      },
      'wurde zurückgenommen. Nichts wurde geändert. Bitte ausfüllen.',
    ],
    [
      {
        code: 'validation_failed',
        fields: [{ field: 'name', code: 'too_long', message: 'name must have at most 200 characters.' }],
      },
      'Höchstens 200 Zeichen.',
    ],
  ]
  for (const [problem, part] of table) assert.ok(said(problem)[1].includes(part), said(problem)[1])
})

test('large numbers in a sentence have groups of digits', () => {
  const message = 'body must have at most 10000 characters.'
  const too_long = { code: 'validation_failed', fields: [{ field: 'body', code: 'too_long', message }] }
  assert.equal(said(too_long)[0], 'At most 10,000 characters.')
  const too_many = { code: 'conflict', reason: 'too_many_pending', facts: { most: 1204 } }
  assert.match(said(too_many)[0], /^More than 1,204 deliveries wait/)
  assert.match(said(too_many)[1], /^Mehr als 1\.204 Zustellungen warten/)
})

test('an error of a later service shows its own sentence', () => {
  assert.deepEqual(said({ code: 'conflict', reason: 'of_next_year', facts: {} }), [unsaid, unsaid])
})

test('the message for a value of the wrong form names the form, in English and German', () => {
  const told = (message: string, code = 'invalid_format') =>
    said({ code: 'validation_failed', fields: [{ field: 'name', code, message } as never] })
  for (const [message, english, german, code] of [
    [`name must be ${formats.email_address}.`, /e-mail address/, /E-Mail-Adresse/],
    [`name must be ${formats.day}.`, /a day .*2026-12-31\./, /Tag/],
    ['custom_fields.site must be a URL that starts with http://.', /https:/, /https:/],
    ['value must be a number or null.', /a number/, /eine Zahl/, 'invalid_type'],
    ['probability must be an integer or null.', /whole number such as 50\./, /ganze Zahl/, 'invalid_type'],
    // Of another form: the sentence of the code.
    ['availability.monday.0.to must be a time such as 17:30.', /right form/, /Format/],
  ] as const) {
    const [en_text, de_text] = told(message, code)
    assert.match(en_text, english)
    assert.match(de_text, german)
  }
})
