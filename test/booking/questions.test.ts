import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ana, type Made, openPage, unescaped, visitor } from '../booking.ts'
import { dataOf, problems } from '../envelope.ts'
import { turnableClock, useRapport } from '../harness.ts'

const rapport = useRapport({ clock: turnableClock() })

const slot = '2026-11-23T09:00:00.000Z'
const pages = '/api/v1/booking-pages'
const ask = (key: string, type: string, more: object = {}) => ({ key, type, ...more })
const define = async (key: string, type: string, more: object = {}) =>
  dataOf(
    await rapport.call('POST', '/api/v1/custom-fields', { resource: 'appointments', key, type, ...more }),
  )
const bookingsOf = async ({ id }: Made): Promise<Made[]> =>
  dataOf(await rapport.call('GET', `/api/v1/appointments?booking_page_id=${id}`))
const refusedPage = async (questions: unknown) => {
  const body = { slug: 'asking', title: 'x', time_zone: 'UTC', questions }
  return problems(await rapport.call('POST', pages, body))
}

test('a question has a key of its own, a known type, and options if it is a select', async () => {
  const twice = await refusedPage([ask('a', 'text'), ask(' a ', 'text')])
  assert.deepEqual(twice, { 'questions.1.key': 'duplicate' })
  const wrong = [ask('a', 'color'), ask('b', 'text', { colour: 'red' }), { type: 'text' }]
  assert.deepEqual(await refusedPage(wrong), {
    'questions.0.type': 'unknown_value',
    'questions.1.colour': 'unknown_field',
    'questions.2.key': 'required',
  })
  const rules = [
    ask('[a]', 'text'),
    ask(' ', 'text'),
    ask('c', 'select'),
    ask('d', 'date', { options: ['x'] }),
  ]
  assert.deepEqual(await refusedPage(rules), {
    'questions.0.key': 'invalid_format',
    'questions.1.key': 'required',
    'questions.2.options': 'required',
    'questions.3.options': 'not_allowed',
  })
  const many = Array.from({ length: 21 }, (_, i) => ask(`k${i}`, 'text'))
  assert.deepEqual(await refusedPage(many), { questions: 'too_many' })
  const { page } = await openPage(rapport, { questions: [ask('a', 'long_text')] })
  const shown = [{ key: 'a', label: 'a', type: 'long_text', required: false, options: [] }]
  assert.deepEqual(page.questions, shown)
})

test('a question has the type of the custom field of appointments with its key', async () => {
  await define('team size', 'number')
  assert.deepEqual(await refusedPage([ask('team size', 'text')]), { 'questions.0.type': 'invalid_value' })
  const { page } = await openPage(rapport, { questions: [ask('team size', 'number')] })
  const put = await rapport.call('PUT', `${pages}/${page.id}`, { questions: [ask('team size', 'date')] })
  assert.deepEqual(problems(put), { 'questions.0.type': 'invalid_value' })
})

const questions = [
  ask('seats', 'number', { label: 'How many <seats>?', required: true }),
  ask('floor plan', 'long_text'),
  ask('on site', 'boolean'),
  ask('day', 'date'),
  ask('size', 'select', { options: ['S & M', 'L'] }),
  ask('site', 'url'),
  ask('second', 'email'),
  ask('other', 'text'),
]

test('answers are the custom fields of the appointment; a question without an answer has no key', async () => {
  const { page, path, get, post } = await openPage(rapport, { questions })
  const form = (await get(`${path}?slot=${slot}`)).text
  for (const { key } of questions) assert.match(form, new RegExp(`name="answer_${key}"`))
  assert.match(form, /How many &lt;seats&gt;\?/)
  const answers = {
    answer_seats: '12.5',
    'answer_floor plan': 'one\r\ntwo',
    'answer_on site': 'false',
    answer_size: 'S & M',
    answer_other: ' ',
    answer_unknown: 'x',
  }
  assert.equal((await post(path, { ...ana, slot, ...answers })).status, 303)
  const [made] = await bookingsOf(page)
  const stored = { seats: 12.5, 'floor plan': 'one\ntwo', 'on site': false, size: 'S & M' }
  assert.deepEqual(made.custom_fields, stored)
})

test('a number is read as the language of the visitor writes it', async () => {
  const { page, path } = await openPage(rapport, { questions: [ask('seats', 'number')] })
  const typed: [language: string, text: string, value: number][] = [
    ['de', '12,5', 12.5],
    ['de', '1.500', 1500],
    ['de', '-1.234,5', -1234.5],
    ['de', '12.5', 12.5],
    ['en', '1,500', 1500],
    ['en', '1,234.5', 1234.5],
    ['en', '12,5', 12.5],
    ['en', '1.500', 1.5],
  ]
  for (const [i, [language, answer_seats]] of typed.entries()) {
    const { post } = visitor(rapport.url, { 'accept-language': language })
    const time = new Date(Date.parse(slot) + i * 1_800_000).toISOString()
    assert.equal((await post(path, { ...ana, slot: time, answer_seats })).status, 303, answer_seats)
  }
  const made = await bookingsOf(page)
  const seats = made.toSorted((a, b) => a.start_at.localeCompare(b.start_at)).map((one) => one.custom_fields)
  assert.deepEqual(
    seats,
    typed.map(([, , value]) => ({ seats: value })),
  )
  const { post } = visitor(rapport.url, { 'accept-language': 'de' })
  for (const answer_seats of ['1.5.0', '1,5,0', '1.50,5', '12,', ',5'])
    assert.equal((await post(path, { ...ana, slot, answer_seats })).status, 422, answer_seats)
})

test('a missing or wrong answer shows the form again, with what was typed', async () => {
  const { page, path, post } = await openPage(rapport, { questions })
  const wrong = {
    'answer_on site': 'perhaps',
    answer_day: '2026-02-30',
    answer_size: 'XL',
    answer_site: 'example',
    answer_second: 'nobody',
    answer_other: 'y'.repeat(4097),
    'answer_floor plan': 'typed <before>',
  }
  const { status, text } = await post(path, { ...ana, slot, ...wrong })
  assert.equal(status, 422)
  assert.match(text, /7 things need a change/)
  assert.match(text, /<a href="#answer-0">Give an answer to “How many &lt;seats&gt;\?”\.<\/a>/)
  assert.match(text, /<select id="answer-4"[^>]* aria-invalid="true" aria-describedby="answer-4-problem"/)
  for (const typed of [ana.first_name, 'typed <before>', '2026-02-30', 'nobody'])
    assert.ok(unescaped(text).includes(typed), typed)
  for (const seats of ['many', '1e999', '', '\0'])
    assert.equal((await post(path, { ...ana, slot, answer_seats: seats })).status, 422, seats)
  assert.deepEqual(await bookingsOf(page), [])
})

const booked = async (
  path: string,
  post: (path: string, fields: Record<string, string>) => Promise<Made>,
  form: object,
) => {
  const { status, text } = await post(path, { ...ana, message: '', ...form })
  assert.equal(status, 303, text)
}

test('an answer that a later custom field takes otherwise is stored in its type', async () => {
  const asked = [ask('people', 'text'), ask('room', 'number'), ask('parking', 'boolean')]
  const { page, path, post } = await openPage(rapport, { questions: asked })
  await define('people', 'number')
  await define('room', 'text')
  await define('parking', 'text')
  await booked(path, post, { slot, answer_people: ' 12 ', answer_room: '4', answer_parking: 'true' })
  const [{ custom_fields, notes }] = await bookingsOf(page)
  assert.deepEqual([custom_fields, notes], [{ people: 12, room: '4', parking: 'true' }, null])
})

test('an answer that a later custom field does not take is in the notes, and the visitor has the time', async () => {
  const asked = [
    ask('rank', 'text', { label: 'Your rank?' }),
    ask('pet', 'select', { options: ['cat', 'dog'] }),
  ]
  const { page, path, post } = await openPage(rapport, { questions: asked })
  await define('rank', 'number')
  await define('pet', 'select', { options: ['dog'] })
  await booked(path, post, { slot, message: 'Hello', answer_rank: 'high', answer_pet: 'cat' })
  const [{ custom_fields, notes }] = await bookingsOf(page)
  assert.deepEqual([custom_fields, notes], [{}, 'Hello\n\nYour rank?: high\npet: cat'])
})

test('an answer that is the value of another record is in the notes, and no answer tells of that record', async () => {
  const { page, path, post } = await openPage(rapport, { questions: [ask('badge', 'text')] })
  await define('badge', 'text', { unique: true })
  await booked(path, post, { slot, answer_badge: 'A1' })
  await booked(path, post, { slot: '2026-11-23T10:00:00.000Z', answer_badge: 'A1' })
  const shown = (await bookingsOf(page)).map(({ custom_fields, notes }) => [custom_fields, notes])
  assert.deepEqual(
    shown.toSorted(),
    [
      [{ badge: 'A1' }, null],
      [{}, 'badge: A1'],
    ].toSorted(),
  )
  // Of those who come at the same moment, one has the value; the others have their times.
  const many = Array.from({ length: 4 }, (_, n) => `2026-11-23T1${n + 1}:00:00.000Z`)
  await Promise.all(many.map((slot) => booked(path, post, { slot, answer_badge: 'B2' })))
  const all = await bookingsOf(page)
  assert.equal(all.length, 6)
  assert.equal(all.filter(({ custom_fields }) => custom_fields.badge === 'B2').length, 1)
})

test('a form with more text than a body may have says how much fits, before it is sent and after', async () => {
  const long = Array.from({ length: 5 }, (_, n) => ask(`long ${n}`, 'long_text'))
  const { page, path, get, post } = await openPage(rapport, { questions: long })
  const fits = /about 15,000 letters/
  assert.match((await get(`${path}?slot=${slot}`)).text, fits)
  const answers = (length: number) =>
    Object.fromEntries(long.map(({ key }) => [`answer_${key}`, 'y'.repeat(length)]))
  const { status, text } = await post(path, { ...ana, slot, ...answers(4090) })
  assert.equal(status, 413)
  assert.match(text, fits)
  assert.equal((await post(path, { ...ana, slot, message: '', ...answers(3000) })).status, 303)
  assert.equal((await bookingsOf(page)).length, 1)
  const other = await openPage(rapport, { questions: long.slice(0, 2) })
  assert.doesNotMatch((await other.get(`${other.path}?slot=${slot}`)).text, fits)
})
