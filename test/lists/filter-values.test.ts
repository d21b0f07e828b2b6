import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { useOwner } from '../people.ts'
import { readerOf, written } from './filtered.ts'

const rapport = useRapport()
const ada = useOwner(rapport)
const { make, listed } = readerOf(() => ada)

test('a malformed value is 422 by its parameter and says what works; an unknown parameter is 400 with the nearest name', async () => {
  const wrong =
    'stage=won,sold&company_id=3,x&value=1e9&value_from=many&expected_close_date_to=2026-02-30&owner_id=!'
  const reply = await ada('GET', `/deals?${wrong}`)
  assert.deepEqual(problems(reply), {
    stage: 'unknown_value',
    company_id: 'invalid_type',
    value: 'invalid_type',
    value_from: 'invalid_type',
    expected_close_date_to: 'invalid_format',
    owner_id: 'required',
  })
  assert.match(reply.text, /stage must be one of new_lead, qualification/)
  const many = Array.from({ length: 101 }, (_, n) => n + 1).join()
  assert.deepEqual(problems(await ada('GET', `/contacts?company_id=${many}`)), { company_id: 'too_many' })
  assert.equal((await ada('GET', `/contacts?company_id=${many.slice(0, many.lastIndexOf(','))}`)).status, 200)
  const unknown = refused(await ada('GET', '/contacts?first_name_from=a'), 400, 'bad_request')
  assert.match(unknown.message, /not a parameter.*Its parameters are page, per_page/)
  assert.match(
    refused(await ada('GET', '/deals?vlaue_from=1'), 400, 'bad_request').message,
    /mean "value_from"/,
  )
  for (const [path, code] of [
    ['deals?probability_from=0.5', 'invalid_type'],
    ['deals?probability=9999999999', 'invalid_type'],
    ['deals?value_to=999999999999', 'invalid_type'],
    ['booking-pages?duration_minutes=!0.5', 'invalid_type'],
  ] as const)
    assert.deepEqual(Object.values(problems(await ada('GET', `/${path}`))), [code], path)
})

test('a day is the time of its start or its end in UTC, at an end of a range of times', async () => {
  const times = ['11T23:59:59.999', '12T00:00:00.000', '12T23:59:59.999', '13T00:00:00.000']
  const ids: number[] = []
  for (const time of times) {
    const due_at = `2031-03-${time}Z`
    ids.push((await make('activities', { subject: 'Due', due_at })).id)
  }
  for (const name of ['due', 'due_at']) {
    const found = await listed('activities', `${name}_from=2031-03-12&${name}_to=2031-03-12`)
    assert.deepEqual(found.sort(), ids.slice(1, 3), name)
  }
  assert.ok(
    (await listed('activities', 'updated_from=2020-01-01&updated_to=2999-12-31')).includes(ids[0] ?? 0),
  )
  assert.deepEqual(await listed('activities', 'updated_to=2020-01-01'), [])
  const wrong = await ada('GET', '/activities?due_at_from=2031-02-30&due_at_to=9999-12-31T23:59:59-01:00')
  assert.deepEqual(problems(wrong), { due_at_from: 'invalid_format', due_at_to: 'out_of_range' })
  assert.match(wrong.text, /must be a time, such as 2026-12-31T08:30:00Z, or a day, such as 2026-12-31/)
})

test('many tags and long values of a custom field are found and left out together, with the exact total', async () => {
  const tagOf = (n: number) => `many ${n}`
  const long = ['first, ', 'second! '].map((text) => text.repeat(20).trim())
  for (let n = 0; n < 24; n++)
    await make('companies', {
      name: `Many ${n}`,
      tags: [tagOf(n), tagOf(n + 1)],
      custom_fields: { about: long[n] ?? `short ${n % 4}`, n: n % 2 ? n : String(n) },
    })
  const total = async (name: string, values: readonly unknown[]) => {
    const query = new URLSearchParams({ search: 'many', [name]: values.join(',') })
    return (await listed('companies', String(query))).length
  }
  const tags = Array.from({ length: 12 }, (_, n) => tagOf(n))
  assert.equal(await total('tag', tags), 12)
  assert.equal(await total('tag', tags.slice(0, 2)), 2)
  assert.equal(
    await total(
      'tag',
      tags.map((one) => `!${one}`),
    ),
    12,
  )
  assert.equal((await listed('companies', `tag=${encodeURIComponent(tags.join())}`)).length, 12)
  assert.equal(await total('custom_fields[about]', [...long.map(written), 'short 3']), 8)
  assert.equal(
    await total('custom_fields[about]', [...long.map((one) => `!${written(one)}`), '!short 3']),
    16,
  )
  assert.equal(await total('custom_fields[n]', ['3', '4', '5.0']), 3)
  // The number 5 in a form that JSON does not have.
  assert.equal(await total('custom_fields[n]', ['0x5']), 0)
})

test('a plus sign that a query writes as a blank is an error of a custom field of addresses, too', async () => {
  const field = { resource: 'companies', key: 'mail', label: 'Mail', type: 'email' }
  assert.equal((await rapport.call('POST', '/api/v1/custom-fields', field)).status, 201)
  const custom_fields = { mail: 'a+b@x.example', note: 'a b@x.example' }
  await rapport.call('POST', '/api/v1/companies', { name: 'Plus', custom_fields })
  for (const list of ['companies', 'companies/export']) {
    const reply = await rapport.call('GET', `/api/v1/${list}?custom_fields[mail]=a+b@x.example`)
    assert.deepEqual(problems(reply), { 'custom_fields[mail]': 'invalid_format' })
    assert.match(reply.text, /%2B/)
  }
  for (const query of ['custom_fields[mail]=a%2Bb@x.example', 'custom_fields[note]=a+b@x.example'])
    assert.equal((await rapport.call('GET', `/api/v1/companies?${query}`)).body.meta.total, 1, query)
})
