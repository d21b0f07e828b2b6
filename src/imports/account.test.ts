import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf } from '../../test/envelope.ts'
import { useRapport } from '../../test/harness.ts'
import { ended, importFile, upload } from '../../test/imports.ts'
import { setUp } from '../../test/people.ts'
import { bookOf, zipOf } from '../../test/zip.ts'
import { sheet_type } from './upload.ts'

const rapport = useRapport()

const ok = async (method: string, path: string, body?: object) => {
  return dataOf(await rapport.call(method, `/api/v1${path}`, body))
}
const run = (query: Record<string, string>, ...lines: string[]) =>
  importFile(rapport, query, `${lines.join('\n')}\n`)
type Column = { header: string; stored: number; changed: number; reasons: object }
/** The numbers of the cells of each column, by their use. */
const usesOf = ({ columns }: { columns: Column[] }) =>
  Object.fromEntries(
    columns.map(({ header, stored, changed, reasons }) => [header, { stored, changed, ...reasons }]),
  )
const newest = async (kind: string, n = 1) => {
  const list: { id: number }[] = await ok('GET', `/${kind}?sort=-id&per_page=${n}`)
  return Promise.all(list.reverse().map(({ id }) => ok('GET', `/${kind}/${id}`)))
}

test('a percentage of a sheet is exact, and no evidence for the texts of other columns', async () => {
  const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`
  const share = '<c s="1"><v>0.0125</v></c>'
  const rows = [
    ['name', 'value', 'Share'].map(text).join(''),
    `${text('Lamps')}${text('1.234')}${share}`,
    `${text('Doors')}${text('2.500,50')}${share}`,
  ].map((cells) => `<row>${cells}</row>`)
  const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="10"/></cellXfs>'
  const query = { resource: 'deals', columns: '{"Share":"probability"}' }
  const file = zipOf(bookOf(rows.join(''), '', styles))
  const done = await importFile(rapport, { ...query, dry_run: 'true' }, file, { 'content-type': sheet_type })
  // A probability is a whole percentage.
  assert.equal(done.failed, 2)
  const kept = { resource: 'deals', rest: 'custom_fields' }
  const made = await importFile(rapport, kept, file, { 'content-type': sheet_type })
  assert.equal(made.created, 2)
  assert.deepEqual(
    (await newest('deals', 2)).map(({ value, custom_fields }) => [value, custom_fields.Share]),
    [
      [1234, '1.25%'],
      [2500.5, '1.25%'],
    ],
  )
})

test('a day that the file writes in another form counts as changed, in a field and in a part of one', async () => {
  const deals = await run(
    { resource: 'deals' },
    'Deal Name,Close Date,Expected Close',
    'Days 1,31/12/2026,2026-12-31',
    'Days 2,2026-12-31,31/12/2026',
    'Days 3,2026-12-31 09:00,',
  )
  const activities = await run(
    { resource: 'activities' },
    'Subject,Due Date',
    'Day,2026-12-31',
    'Day,31.12.2026',
  )
  const days = { stored: 1, changed: 1 }
  assert.deepEqual(
    [usesOf(deals)['Close Date'], usesOf(deals)['Expected Close'], usesOf(activities)['Due Date']],
    [{ stored: 1, changed: 2 }, days, days],
  )
})

test('with rest=custom_fields, a column without a header is kept under its number', async () => {
  const done = await run(
    { resource: 'companies', rest: 'custom_fields' },
    'name,,__proto__,custom_fields.size,custom_fields.size',
    'Untitled,red,9,big,small',
  )
  assert.deepEqual(
    [done.created, done.columns.every(({ left_out }: { left_out: number }) => left_out === 0)],
    [1, true],
  )
  const [company] = await newest('companies')
  assert.deepEqual(company.custom_fields, {
    'Column 2': 'red',
    'Column 3': '9',
    size: 'big',
    'size 3': 'small',
  })
})

test('of a custom field in an object and in a column of its own, no value is lost without a word', async () => {
  const lines = [
    'name,custom_fields,custom_fields.plan,Region',
    'Both 1,"{""plan"":""gold"",""Region"":""north""}",silver,south',
    'Both 2,"{""plan"":""gold""}",gold,',
    'Both 3,"{""plan"":""gold""}",,south',
  ]
  const ignored = await run({ resource: 'companies' }, ...lines)
  assert.deepEqual(usesOf(ignored).custom_fields, { stored: 2, changed: 0, other_value: 1 })
  assert.deepEqual(
    (await newest('companies', 3)).map(({ custom_fields }) => custom_fields),
    [{ plan: 'silver', Region: 'north' }, { plan: 'gold' }, { plan: 'gold' }],
  )
  const kept = await run({ resource: 'companies', rest: 'custom_fields' }, ...lines)
  assert.ok(kept.columns.every(({ left_out }: { left_out: number }) => left_out === 0))
  assert.deepEqual(
    (await newest('companies', 3)).map(({ custom_fields }) => custom_fields),
    [
      { plan: 'silver', 'plan 2': 'gold', Region: 'south', 'Region 2': 'north' },
      { plan: 'gold' },
      { plan: 'gold', Region: 'south' },
    ],
  )
  const two = '{"name":"Two objects","custom_fields":{"plan":"gold"},"More":{"plan":"silver","size":1}}\n'
  const query = { resource: 'companies', columns: '{"More":"custom_fields"}' }
  const type = { 'content-type': 'application/x-ndjson' }
  assert.deepEqual(usesOf(await importFile(rapport, query, two, type)).custom_fields, {
    stored: 0,
    changed: 0,
    other_value: 1,
  })
  await importFile(rapport, { ...query, rest: 'custom_fields' }, two, type)
  const [{ custom_fields }] = await newest('companies')
  assert.deepEqual(custom_fields, { plan: 'silver', 'plan 2': 'gold', size: 1 })
})

test('a name that is not linked keeps its custom field beside another value of the key', async () => {
  const line = 'Lamps,Nobody Here,"{""contact"":""old""}"'
  await run({ resource: 'deals', rest: 'custom_fields' }, 'name,contact,custom_fields', line)
  const [{ custom_fields }] = await newest('deals')
  assert.deepEqual(custom_fields, { contact: 'old', 'contact 2': 'Nobody Here' })
})

test('a calling code counts as stored with its number only', async () => {
  const header =
    'Name / First Name,Name / Last Name,Phones / Primary Phone Number,Phones / Primary Phone Calling Code'
  const lines = [
    header,
    'Ana,Code,30 1234,+49',
    'Bea,Code,,+49',
    'Cem,Code,+43 1 5,+49',
    'Dia,Code,+49 30 7,+49',
  ]
  const code = 'Phones / Primary Phone Calling Code'
  const query = { resource: 'contacts', program: 'twenty' }
  assert.deepEqual(usesOf(await run(query, ...lines))[code], { stored: 2, changed: 0, no_field: 2 })
  const phones = (await newest('contacts', 4)).map(({ phone }) => phone)
  assert.deepEqual(phones, ['+49 30 1234', null, '+43 1 5', '+49 30 7'])
  await run({ ...query, rest: 'custom_fields' }, ...lines)
  const kept = (await newest('contacts', 4)).map(({ custom_fields }) => custom_fields[code])
  assert.deepEqual(kept, [undefined, '+49', '+49', undefined])
})

test('of an id and a name of different records the name counts, and the id is left out by name', async () => {
  const person = (first_name: string) => ok('POST', '/contacts', { first_name, last_name: 'Twice' })
  const [ana, bea] = [await person('Ana'), await person('Bea')]
  const lines = [
    'name,contact_id,contact',
    `Of Bea,${ana.id},Bea Twice`,
    `Of Ana,${ana.id},Ana Twice`,
    `Of nobody,${ana.id},Cem Twice`,
  ]
  const uses = usesOf(await run({ resource: 'deals' }, ...lines))
  assert.deepEqual(uses.contact_id, { stored: 1, changed: 0, other_value: 1, not_linked: 1 })
  assert.deepEqual(uses.contact, { stored: 2, changed: 0, not_linked: 1 })
  await run({ resource: 'deals', rest: 'custom_fields' }, ...lines)
  assert.deepEqual(
    (await newest('deals', 3)).map(({ contact_id, custom_fields }) => [contact_id, custom_fields]),
    [
      [bea.id, { contact_id: String(ana.id) }],
      [ana.id, {}],
      [null, { contact_id: String(ana.id), contact: 'Cem Twice' }],
    ],
  )
})

test('the value by which a merged record is matched is not stored, and the account says so', async () => {
  const person = (email: string) => ok('POST', '/contacts', { first_name: 'Ana', last_name: 'Merged', email })
  const [old, survivor] = [await person('old@merged.example'), await person('new@merged.example')]
  await ok('POST', `/contacts/${survivor.id}/merge`, { from_ids: [old.id] })
  const done = await run(
    { resource: 'contacts', on_match: 'update', match: 'email' },
    'email,title',
    'old@merged.example,CTO',
    'NEW@merged.example,CEO',
  )
  assert.deepEqual([done.updated, usesOf(done).email], [2, { stored: 1, changed: 0, other_value: 1 }])
  assert.equal((await ok('GET', `/contacts/${survivor.id}`)).email, 'NEW@merged.example')
})

test('a new record whose owner is not a member has no owner, also where rows may update', async () => {
  const person = await setUp(rapport)
  const csv = (email: string) =>
    `email,first_name,last_name,owner\n${email},Ana,Owned,stranger@x.example\n,Bea,Owned,stranger@x.example\n`
  const importAs = async (file: string) => {
    const headers = { cookie: person.cookie(), origin: rapport.url, 'content-type': 'text/csv' }
    const path = '/api/v1/imports?resource=contacts&on_match=update&match=email'
    const reply = await fetch(rapport.url + path, { method: 'POST', headers, body: file })
    return ended(rapport, ((await reply.json()) as { data: { id: string } }).data.id)
  }
  const done = await importAs(csv('unowned@x.example'))
  assert.deepEqual([done.created, done.errors], [2, 2])
  const [ana, bea] = await newest('contacts', 2)
  assert.deepEqual([ana.owner_id, bea.owner_id], [null, null])
  // A record that is there keeps its owner.
  const [{ id }] = await ok('GET', '/members')
  await ok('PUT', `/contacts/${ana.id}`, { owner_id: id })
  assert.equal((await importAs(csv('unowned@x.example'))).errors, 2)
  assert.equal((await ok('GET', `/contacts/${ana.id}`)).owner_id, id)
})

test('an import shows how its file was read', async () => {
  const shown = ({ file_type, encoding, sheet, header_row }: Record<string, unknown>) => [
    file_type,
    encoding,
    sheet,
    header_row,
  ]
  const csv = await importFile(
    rapport,
    { resource: 'companies', encoding: 'windows-1251' },
    'a note\n\nname,phone\nAcme,1\n',
  )
  assert.deepEqual(shown(csv), ['csv', 'windows-1251', null, 3])
  const row = '<row><c t="inlineStr"><is><t>name</t></is></c></row>'
  const book = await importFile(rapport, { resource: 'companies' }, zipOf(bookOf(row)), {
    'content-type': sheet_type,
  })
  assert.deepEqual(shown(book), ['xlsx', null, 'One', 1])
})

test('the preview of an archive refuses what only rows of one kind have', async () => {
  const types = { 'content-type': 'application/gzip' }
  const { status, body } = await upload(
    rapport,
    '/preview?resource=workspace&sheet=1&program=hubspot',
    'x',
    types,
  )
  assert.deepEqual(
    [status, body.error.fields.map(({ field, code }: Record<string, string>) => [field, code])],
    [
      422,
      [
        ['program', 'not_allowed'],
        ['sheet', 'not_allowed'],
      ],
    ],
  )
})
