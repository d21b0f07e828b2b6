import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { problems } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'

const rapport = useRapport()

const found = async (path: string) => (await rapport.call('GET', `/api/v1/${path}`)).body.data
/** Imports a file. Returns the numbers of created, updated and failed rows, and the field and code of each error. */
async function outcome(query: Record<string, string>, file: string) {
  const { id, created, updated, failed } = await importFile(rapport, query, file)
  const errors: string = (await rapport.call('GET', `/api/v1/imports/${id}/errors`)).text
  const reported = errors
    .trim()
    .split('\r\n')
    .slice(1)
    .map((row) => [row.split(',')[1], row.split(',').at(-1)])
  return { counts: [created, updated, failed], reported }
}
const customFieldsOf = async (last_name: string) => {
  const [{ id }] = await found(`contacts?search=${last_name}`)
  return (await found(`contacts/${id}`)).custom_fields
}

test('a cell of custom fields without an object is an error of its row, also beside columns of single fields', async () => {
  const columns = ['custom_fields.region', 'custom_fields']
  for (const order of [columns, columns.toReversed()])
    for (const cell of ['abc', '"[1,2]"', '5', '"{""__proto__"":1}"']) {
      const cells = order.map((column) => (column === 'custom_fields' ? cell : 'EMEA'))
      const file = `first_name,last_name,${order}\nAna,Ruiz,${cells}\n`
      const expected = { counts: [0, 0, 1], reported: [['custom_fields', 'invalid_type']] }
      assert.deepEqual(await outcome({ resource: 'contacts' }, file), expected, file)
    }
  const file = `first_name,last_name,${columns}\nAna,Both,EMEA,"{""size"":5,""region"":""APAC""}"\n`
  await outcome({ resource: 'contacts' }, file)
  assert.deepEqual(await customFieldsOf('both'), { size: 5, region: 'EMEA' })
})

test('no column becomes a custom field that no request can have', async () => {
  const file = 'first_name,last_name,__proto__,custom_fields.__proto__,Region\nAna,Proto,1,2,EMEA\n'
  assert.deepEqual((await outcome({ resource: 'contacts', rest: 'custom_fields' }, file)).counts, [1, 0, 0])
  assert.deepEqual(Object.entries(await customFieldsOf('proto')), [
    ['Column 3', '1'],
    ['Column 4', '2'],
    ['Region', 'EMEA'],
  ])
  const columns = JSON.stringify({ Region: 'custom_fields.__proto__' })
  const query = new URLSearchParams({ resource: 'contacts', columns })
  assert.deepEqual(problems(await upload(rapport, `?${query}`, file)), { columns: 'unknown_field' })
})

test('a column of the request goes before columns that are found by their headers, and fills in where it is empty', async () => {
  const file =
    'first_name,last_name,E-mail,Private,Zone,Region\nA,Named,a@work.example,a@home.example,1,2\nB,Named,b@work.example,,,3\n'
  const columns = JSON.stringify({ Private: 'email', Region: 'custom_fields.Zone' })
  await importFile(rapport, { resource: 'contacts', columns, rest: 'custom_fields' }, file)
  const named = await found('contacts?search=named&sort=id')
  assert.deepEqual(
    named.map(({ email }: { email: string }) => email),
    ['a@home.example', 'b@work.example'],
  )
  const details = await Promise.all(named.map(({ id }: { id: number }) => found(`contacts/${id}`)))
  assert.deepEqual(
    details.map(({ custom_fields }) => custom_fields),
    [{ Zone: '2', 'Zone 2': '1', 'E-mail': 'a@work.example' }, { Zone: '3' }],
  )
})

test('the errors of an import show a line of JSON as it was sent', async () => {
  const lines = [
    '{"first_name":"Zo\\u00eb","last_name":5,"tags":["a"]}',
    '["a"]',
    '{"email":"a\\u0040b',
    '"x"',
  ]
  const type = { 'content-type': 'application/x-ndjson' }
  const { id } = await importFile(rapport, { resource: 'contacts' }, `${lines.join('\n')}\n`, type)
  const { text } = await rapport.call('GET', `/api/v1/imports/${id}/errors`)
  const rows: string[][] = parse(text)
  assert.deepEqual(
    rows.slice(1).map((row) => row[3]),
    ['{"first_name":"Zoë","last_name":5,"tags":["a"]}', '["a"]', '{"email":"a@b', '"x"'],
  )
})

test('a long header becomes a custom field with whole characters', async () => {
  const header = `${'x'.repeat(63)}😀 and more`
  const file = `first_name,last_name,${header}\nAna,Header,v\n`
  assert.deepEqual((await outcome({ resource: 'contacts', rest: 'custom_fields' }, file)).counts, [1, 0, 0])
  assert.deepEqual(await customFieldsOf('header'), { [`${'x'.repeat(63)}😀`]: 'v' })
})

test('a row with the reason of a lost deal changes a deal, and is imported as a whole or not at all', async () => {
  const { id } = (await rapport.call('POST', '/api/v1/deals', { name: 'Chairs' })).body.data
  const query = { resource: 'deals', on_match: 'update', match: 'name' }
  const file = [
    'name,stage,lost_reason',
    'Chairs,lost,Price',
    'Tables,lost,Time',
    'Lamps,demo,Price',
    `Shelves,lost,${'x'.repeat(256)}`,
    'Sofas,won,',
  ]
  assert.deepEqual(await outcome(query, file.join('\n')), {
    counts: [2, 1, 2],
    reported: [
      ['lost_reason', 'not_allowed'],
      ['lost_reason', 'too_long'],
    ],
  })
  const { stage, lost_reason } = await found(`deals/${id}`)
  assert.deepEqual([stage, lost_reason], ['lost', 'Price'])
  const deals = await found('deals?sort=name&details=true')
  assert.deepEqual(
    deals.map((deal: { name: string; lost_reason: string | null }) => [deal.name, deal.lost_reason]),
    [
      ['Chairs', 'Price'],
      ['Sofas', null],
      ['Tables', 'Time'],
    ],
  )
})

test('the name of a company that cannot be made is an error of its row, also in a dry run', async () => {
  const names = ['Nul\0', `Nul\0${'x'.repeat(255)}`, 'x'.repeat(256), 'Fine']
  const file = `first_name,last_name,company\n${names.map((name) => `Ana,Company,${name}\n`).join('')}`
  const expected = {
    counts: [1, 0, 3],
    reported: [
      ['company_id', 'invalid_characters'],
      ['company_id', 'invalid_characters'],
      ['company_id', 'too_long'],
    ],
  }
  assert.deepEqual(await outcome({ resource: 'contacts', dry_run: 'true' }, file), expected)
  assert.deepEqual(await found('companies?search=fine'), [])
  assert.deepEqual(await outcome({ resource: 'contacts' }, file), expected)
  const [contact] = await found('contacts?search=company')
  assert.equal(contact.company.name, 'Fine')
})

test('amounts, days and yes or no are read as German and English programs write them, if there is one way to read them', async () => {
  const define = (key: string, type: string) =>
    rapport.call('POST', '/api/v1/custom-fields', { resource: 'deals', key, type, label: key })
  assert.equal((await define('renews', 'boolean')).status, 201)
  assert.equal((await define('signed', 'date')).status, 201)
  const file = [
    'name;value;expected_close_date;custom_fields.renews;custom_fields.signed',
    'Written 1;12.500,50 €;24.12.2026;ja;1.2.2026',
    'Written 2;€12,500.50;2026-12-24 00:00;no;2026-02-01',
    'Written 3;12,5;31.2.2026;;',
    'Written 4;1,250;;;',
    'Written 5;1.250.000;;vielleicht;',
    'Written 6;1,250,000;;;',
    'Written 7;12.500;;;',
    'Written 8;12.345 €;;;',
    'Written 9;12.345;;;',
    'Written A;0,125;;;',
    'Written B;1234,567;;;',
  ]
  assert.deepEqual(await outcome({ resource: 'deals' }, file.join('\n')), {
    counts: [5, 0, 6],
    reported: [
      ['expected_close_date', 'invalid_format'],
      ['value', 'two_readings'],
      ['custom_fields.renews', 'invalid_type'],
      ['value', 'two_readings'],
      ['value', 'two_readings'],
      ['value', 'two_readings'],
    ],
  })
  const deals = await found('deals?search=written&sort=name&details=true')
  const custom_fields = { renews: true, signed: '2026-02-01' }
  assert.deepEqual(
    deals.map((deal: Record<string, unknown>) => [deal.value, deal.expected_close_date, deal.custom_fields]),
    [
      [12_500.5, '2026-12-24', custom_fields],
      [12_500.5, '2026-12-24', { ...custom_fields, renews: false }],
      [1_250_000, null, {}],
      [0.125, null, {}],
      [1234.567, null, {}],
    ],
  )
})
