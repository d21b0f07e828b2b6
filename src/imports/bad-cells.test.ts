import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { dataOf } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'

const rapport = useRapport()

const ok = async (method: string, path: string, body?: object) => {
  return dataOf(await rapport.call(method, `/api/v1${path}`, body))
}
type Column = { header: string; stored: number; changed: number; reasons: object }
const run = async (query: Record<string, string>, ...lines: string[]) => {
  const done = await importFile(rapport, query, `${lines.join('\n')}\n`)
  const { text } = await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)
  const [, ...errors]: string[][] = parse(text)
  const uses = Object.fromEntries(
    done.columns.map(({ header, stored, changed, reasons }: Column) => [
      header,
      { stored, changed, ...reasons },
    ]),
  )
  return { ...done, uses, reported: errors.map(([row, field, , , code]) => [Number(row), field, code]) }
}
const newest = async (kind: string, n: number) => {
  const list: { id: number }[] = await ok('GET', `/${kind}?sort=-id&per_page=${n}`)
  return Promise.all(list.reverse().map(({ id }) => ok('GET', `/${kind}/${id}`)))
}
const leave = { bad_cells: 'leave_out' }

test('a row is imported without its bad cells if the request says so, and the errors list them', async () => {
  const person = (email: string) => ok('POST', '/contacts', { first_name: 'Tim', last_name: 'Cells', email })
  await Promise.all([person('one@cells.example'), person('two@cells.example')])
  const lines = [
    'Name\tValue\tExpected close date\tPriority\tContact\tCompany\tProbability',
    `Two readings\t1.234\t05/06/2027\thigh\tTim Cells\tCells Inc.\t20`,
    `Not a number\tmuch\t2027-01-01\thigh\t\t\t200`,
    `\t12\t2027-01-01\thigh\t\t\t20`,
    `Good\t12\t2027-01-01\tlow\tone@cells.example\tCells Inc.\t20`,
  ]
  const failing = await run({ resource: 'deals' }, ...lines)
  assert.deepEqual([failing.created, failing.failed], [1, 3])
  const done = await run({ resource: 'deals', ...leave }, ...lines)
  assert.deepEqual([done.created, done.failed, done.options.bad_cells], [3, 1, 'leave_out'])
  assert.deepEqual(done.reported.sort(), [
    [2, 'contact_id', 'ambiguous'],
    [2, 'expected_close_date', 'two_readings'],
    [2, 'value', 'two_readings'],
    [3, 'probability', 'out_of_range'],
    [3, 'value', 'invalid_type'],
    [4, 'name', 'required'],
  ])
  assert.deepEqual(
    (await newest('deals', 3)).map((one) => [one.name, one.value, one.priority, one.company?.name]),
    [
      ['Two readings', null, 'high', 'Cells Inc.'],
      ['Not a number', null, 'high', undefined],
      ['Good', 12, 'low', 'Cells Inc.'],
    ],
  )
  assert.deepEqual(done.uses.Value, { stored: 1, changed: 0, not_valid: 2, row_failed: 1 })
  assert.deepEqual(done.uses.Contact, { stored: 1, changed: 0, not_valid: 1 })
})

test('a bad cell becomes a custom field with the rest, and the bad value of a custom field is left out', async () => {
  await ok('POST', '/custom-fields', {
    resource: 'companies',
    key: 'founded',
    label: 'Founded',
    type: 'date',
  })
  const lines = ['name,website,founded', `Bad Cell,${'x'.repeat(300)},when`, 'Good Cell,x.example,2001-01-01']
  const done = await run({ resource: 'companies', rest: 'custom_fields', ...leave }, ...lines)
  assert.deepEqual([done.created, done.failed, done.errors], [2, 0, 2])
  assert.deepEqual(done.uses.website, { stored: 2, changed: 0 })
  const [bad, good] = await newest('companies', 2)
  assert.deepEqual(bad.custom_fields, { website: 'x'.repeat(300), 'founded 2': 'when' })
  assert.deepEqual([bad.website, good.custom_fields], [null, { founded: '2001-01-01' }])
})

test('the cell by which a row finds its record is not left out, and a row that contradicts itself is an error', async () => {
  const query = { resource: 'contacts', on_match: 'update', match: 'email', ...leave }
  const people = await run(query, 'first_name,last_name,email', 'Ana,Matched,nope')
  assert.deepEqual([people.created, people.failed, people.reported], [0, 1, [[2, 'email', 'invalid_format']]])
  const lines = ['name,stage,status,value', 'Against itself,won,open,much']
  const deals = await run({ resource: 'deals', ...leave }, ...lines)
  assert.deepEqual([deals.created, deals.failed], [0, 1])
})

test('a request mends cells of the file by their row and header, in the check and in the import', async () => {
  const file = 'first_name,last_name,email\nAna,Mended,nope\nBea,Mended,bea@mended.example\n'
  const cells = JSON.stringify({ 2: { email: 'ana@mended.example' } })
  const query = { resource: 'contacts', cells }
  assert.deepEqual((await importFile(rapport, { ...query, dry_run: 'true' }, file)).failed, 0)
  const done = await importFile(rapport, query, file)
  assert.deepEqual([done.created, done.failed, done.options.cells], [2, 0, undefined])
  assert.deepEqual(
    (await newest('contacts', 2)).map(({ email }) => email),
    ['ana@mended.example', 'bea@mended.example'],
  )
  for (const wrong of ['[]', '{"0":{}}', '{"2":{"email":1}}', 'x']) {
    const reply = await upload(
      rapport,
      `?${new URLSearchParams({ resource: 'contacts', cells: wrong })}`,
      file,
    )
    assert.deepEqual([reply.status, reply.body.error.fields[0].field], [422, 'cells'], wrong)
  }
})

test('a cell of the request is used where the row is shorter than its header, and refused without its column', async () => {
  const mend = async (cells: object, file: string, type: string) => {
    const query = { resource: 'contacts', cells: JSON.stringify(cells) }
    const done = await importFile(rapport, query, file, { 'content-type': type })
    assert.equal(done.failed, 0)
    return (await newest('contacts', done.created)).map(({ email, phone }) => [email, phone])
  }
  const short = 'first_name,last_name,phone,email\nAna,Short\nBea,Short,1\n'
  assert.deepEqual(await mend({ 2: { email: 'ana@short.example' } }, short, 'text/csv'), [
    ['ana@short.example', null],
    [null, '1'],
  ])
  const line = '{"first_name":"Ana","last_name":"Line"}\n'
  const type = 'application/x-ndjson'
  assert.deepEqual(await mend({ 1: { email: 'ana@line.example' } }, line, type), [['ana@line.example', null]])
  const cells = JSON.stringify({ 2: { 'E-Mail': 'ana@short.example' } })
  const reply = await upload(rapport, `?${new URLSearchParams({ resource: 'contacts', cells })}`, short)
  assert.deepEqual([reply.status, reply.body.error.fields[0].field], [422, 'cells'])
  assert.match(reply.body.error.fields[0].message, /"E-Mail", which the file does not have/)
})

test('a bad cell of custom fields is left out by itself: those of other columns stay', async () => {
  const query = { resource: 'contacts', ...leave, rest: 'custom_fields' }
  const file = 'first_name,last_name,custom_fields,custom_fields.size,Region\nAna,Alone,abc,5,EMEA\n'
  const done = await importFile(rapport, query, file)
  assert.deepEqual([done.created, done.failed, done.errors], [1, 0, 1])
  const [{ id }] = await newest('contacts', 1)
  const { custom_fields } = (await rapport.call('GET', `/api/v1/contacts/${id}`)).body.data
  assert.deepEqual(custom_fields, { size: '5', Region: 'EMEA', custom_fields: 'abc' })
  const many = Array.from({ length: 101 }, (_, n) => `F${n}`)
  const cells = ['Ana', 'Many', '"{""a"":1}"', ...many.map(() => 'x')]
  const too_many = `first_name,last_name,custom_fields,${many}\n${cells}\n`
  const refused = await importFile(rapport, query, too_many)
  assert.deepEqual([refused.created, refused.failed], [0, 1])
})

test('a bad cell that is an object becomes a custom field with its JSON', async () => {
  const line = { first_name: 'Ana', last_name: 'Object', phone: { home: '1' } }
  const query = { resource: 'contacts', ...leave, rest: 'custom_fields' }
  const type = { 'content-type': 'application/x-ndjson' }
  await importFile(rapport, query, `${JSON.stringify(line)}\n`, type)
  const [{ custom_fields }] = await newest('contacts', 1)
  assert.deepEqual(Object.values(custom_fields), ['{"home":"1"}'])
})
