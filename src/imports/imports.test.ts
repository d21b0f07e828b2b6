// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../../test/envelope.ts'
import { client, startRapport, useRapport } from '../../test/harness.ts'
import { importFile, upload } from '../../test/imports.ts'
import { makeKey } from '../../test/keys.ts'
import { unlessBusy } from '../../test/webhooks.ts'

const rapport = useRapport()

/** Another workspace would do; each test has its own names instead. */
const found = async (path: string) => (await rapport.call('GET', `/api/v1/${path}`)).body.data
const detail = async (kind: string, id: number) => found(`${kind}/${id}`)
const errorsOf = async (id: string) => (await rapport.call('GET', `/api/v1/imports/${id}/errors`)).text

test('rows become contacts, with companies by name, tags, custom fields and the errors of the others', async () => {
  const file = [
    'First Name,Last Name,E-mail,Phone Number,Company Name,Tags,Region,custom_fields.size',
    'Ana,Ruiz,ana@one.example,+34 910 55 01 42,One Ltd,"a\\;b;two",EMEA,5',
    'Zoë,Day,not an address,,One Ltd,,,',
    "Bo,Li,,'=1+1,Two Ltd,,,",
    ',,,,,,,',
    '',
  ].join('\r\n')
  const done = await importFile(
    rapport,
    { resource: 'contacts', rest: 'custom_fields', file_name: 'one.csv' },
    file,
  )
  const { status, file_name, rows_read, created, updated, skipped, failed, created_by } = done
  assert.deepEqual(
    { status, file_name, rows_read, created, updated, skipped, failed },
    {
      status: 'succeeded',
      file_name: 'one.csv',
      rows_read: 4,
      created: 2,
      updated: 0,
      skipped: 0,
      failed: 2,
    },
  )
  assert.equal(created_by.kind, 'key')
  assert.deepEqual(done.kinds, [
    { kind: 'contacts', rows_read: 4, created: 2, updated: 0, skipped: 0, failed: 2 },
  ])
  const [ana] = await found('contacts?search=ana+ruiz')
  const record = await detail('contacts', ana.id)
  assert.deepEqual(
    [record.email, record.phone, record.company.name, record.tags, record.custom_fields],
    ['ana@one.example', '+34 910 55 01 42', 'One Ltd', ['a;b', 'two'], { Region: 'EMEA', size: '5' }],
  )
  const [bo] = await found('contacts?search=bo+li')
  assert.deepEqual([bo.phone, bo.company.name], ['=1+1', 'Two Ltd'])
  assert.equal((await found('companies?search=ltd')).length, 2)
  assert.deepEqual((await errorsOf(done.id)).split('\r\n').slice(0, 2), [
    'row,field,message,content,code',
    '3,email,"email must be an e-mail address, such as ana.ruiz@example.com.","Zoë,Day,not an address,,One Ltd,,,",invalid_format',
  ])
  assert.match(await errorsOf(done.id), /\r\n5,first_name,first_name is required\.,.*,required\r\n/)
})

test('a row updates, skips or doubles the record that it matches, and a row without the field makes one', async () => {
  const file = 'email,first_name,last_name,phone\nmatch@acme.example,Ana,Match,1\n,No,Mail,2\n'
  const counts = async (query: Record<string, string>) => {
    const { created, updated, skipped, failed } = await importFile(
      rapport,
      { resource: 'contacts', ...query },
      file,
    )
    return [created, updated, skipped, failed]
  }
  assert.deepEqual(await counts({}), [2, 0, 0, 0])
  assert.deepEqual(await counts({ on_match: 'skip' }), [1, 0, 1, 0])
  const changed = file.replace(',1\n', ',9\n').replace(/\n,No.*/, '')
  const { id } = await importFile(rapport, { resource: 'contacts', on_match: 'update' }, changed)
  assert.equal((await found('contacts?search=match@acme'))[0].phone, '9')
  assert.equal((await rapport.call('GET', `/api/v1/imports/${id}`)).body.data.updated, 1)
  assert.deepEqual(await counts({ on_match: 'create' }), [2, 0, 0, 0])
  assert.deepEqual(await counts({ on_match: 'update' }), [1, 0, 0, 1])
})

test('a row that is skipped or fails makes no company', async () => {
  await rapport.call('POST', '/api/v1/contacts', {
    first_name: 'Ana',
    last_name: 'Known',
    email: 'ana@known.example',
  })
  const rows = [
    'Ana,Known,ana@known.example,Skipped',
    'Bo,Bad,nope,Invalid',
    ',Short,short@known.example,Required',
    'Eva,New,eva@known.example,Good',
    'Bo,Bad,nope,Good',
  ]
  const file = `first_name,last_name,email,company\n${rows.map((row) => `${row} and Makes None\n`).join('')}`
  const made = async () => {
    const { data } = (await rapport.call('GET', '/api/v1/companies?search=makes%20none')).body
    return data.map(({ name }: { name: string }) => name).sort()
  }
  const skip = await importFile(rapport, { resource: 'contacts', on_match: 'skip', match: 'email' }, file)
  assert.deepEqual([skip.created, skip.skipped, skip.failed], [1, 1, 3])
  // An earlier row could have made the contact, which needs no first name then.
  assert.deepEqual(await made(), ['Good and Makes None', 'Required and Makes None'])
  await importFile(rapport, { resource: 'contacts' }, file.replaceAll('Makes None', 'makes none again'))
  assert.deepEqual(await made(), [
    'Good and Makes None',
    'Good and makes none again',
    'Required and Makes None',
    'Skipped and makes none again',
  ])
  const leave = { resource: 'contacts', bad_cells: 'leave_out' }
  await importFile(rapport, leave, file.replaceAll('Makes None', 'makes none left'))
  assert.ok((await made()).includes('Invalid and makes none left'))
  assert.ok(!(await made()).includes('Required and makes none left'))
})

test('a row that is imported has its new company, whatever stands beside the name', async () => {
  const field = { resource: 'contacts', key: 'staff', label: 'Staff', type: 'number' }
  assert.equal((await rapport.call('POST', '/api/v1/custom-fields', field)).status, 201)
  const lines = [
    { first_name: 'Ana', last_name: 'Null', company: 'Nullfirma Ltd', staff: null },
    { first_name: 'Bea', last_name: 'Null', company: 'Objektfirma Ltd', custom_fields: { staff: null } },
  ]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const type = { 'content-type': 'application/x-ndjson' }
  const ofLines = await importFile(rapport, { resource: 'contacts' }, text, type)
  assert.deepEqual([ofLines.created, ofLines.failed, ofLines.errors], [2, 0, 0])
  const file = 'first_name,last_name,company_id,company\nCid,Id,C-1001,Kennfirma Ltd\n'
  const ofRows = await importFile(rapport, { resource: 'contacts' }, file)
  assert.deepEqual([ofRows.created, ofRows.failed, ofRows.errors], [1, 0, 0])
  for (const name of ['Nullfirma Ltd', 'Objektfirma Ltd', 'Kennfirma Ltd']) {
    const found = (await rapport.call('GET', `/api/v1/companies?search=${encodeURIComponent(name)}`)).body
      .data
    assert.equal(found.length, 1, name)
    const linked = (await rapport.call('GET', `/api/v1/contacts?company_id=${found[0].id}`)).body
    assert.equal(linked.meta.total, 1, name)
  }
})

test('a dry run has the counts and the errors, and writes nothing', async () => {
  const before = (await rapport.call('GET', '/api/v1/contacts')).body.meta.total
  const file = 'first_name,last_name,company\nDry,Run,Dry Ltd\nOnly,,\n'
  const done = await importFile(rapport, { resource: 'contacts', dry_run: 'true' }, file)
  assert.deepEqual([done.status, done.created, done.failed], ['succeeded', 1, 1])
  assert.match(await errorsOf(done.id), /last_name/)
  assert.equal((await rapport.call('GET', '/api/v1/contacts')).body.meta.total, before)
  assert.deepEqual(await found('companies?search=dry'), [])
  const undo = await rapport.call('POST', `/api/v1/imports/${done.id}/undo`)
  assert.equal(undo.status, 409)
})

test('companies, deals and activities are imported, lost deals with their reason, lines of JSON as their own export', async () => {
  await importFile(
    rapport,
    { resource: 'companies' },
    'Company name,Website URL\nKontor,https://kontor.example\n',
  )
  await importFile(
    rapport,
    { resource: 'deals' },
    'Deal - Title;Deal - Value;Deal - Stage;Deal - Lost reason;Deal - Organization\nDesks;12500.5;lost;Price;Kontor\n',
  )
  const [deal] = await found('deals?search=desks&details=true')
  assert.deepEqual(
    [deal.value, deal.stage, deal.lost_reason, deal.company.name],
    [12500.5, 'lost', 'Price', 'Kontor'],
  )
  const line = JSON.stringify({
    id: 7,
    subject: 'Call\nback',
    due_at: '2030-01-01T00:00:00Z',
    company: { id: 1, name: 'Kontor' },
  })
  const done = await importFile(rapport, { resource: 'activities' }, `${line}\nnonsense\n`, {
    'content-type': 'application/x-ndjson',
  })
  assert.deepEqual([done.created, done.failed], [1, 1])
  const [activity] = await found(`activities?company_id=${deal.company_id}`)
  assert.deepEqual([activity.subject, activity.due_at], ['Call\nback', '2030-01-01T00:00:00.000Z'])
})

test('an Idempotency-Key of a dry run or of another resource imports nothing, and says so', async () => {
  const headers = { 'idempotency-key': 'one-file' }
  const send = (query: string) => upload(rapport, query, 'name\nOnce\n', headers)
  const first = await send('?resource=companies&dry_run=true')
  assert.equal(first.status, 202, first.text)
  for (const query of ['?resource=companies', '?resource=deals&dry_run=true']) {
    const { status, body } = await send(query)
    assert.deepEqual([status, body.error?.reason], [409, 'key_of_another_body'], query)
  }
  const again = await send('?resource=companies&dry_run=true')
  assert.equal(again.body.data.id, first.body.data.id)
})

test('a repeated Idempotency-Key answers the same import, and imports once', async () => {
  const headers = { 'idempotency-key': 'once-only' }
  const file = 'name\nOnce Only\n'
  const first = await importFile(rapport, { resource: 'companies' }, file, headers)
  const second = await importFile(rapport, { resource: 'companies' }, file, headers)
  assert.equal(first.id, second.id)
  assert.equal((await found('companies?search=once+only')).length, 1)
  refused(await upload(rapport, '?resource=companies', `${file}x\n`, headers), 409, 'conflict')
})

test('an import needs the write scope of the resource, and that of companies to make one', async () => {
  const some = ['imports:write', 'imports:read', 'contacts:write', 'contacts:read']
  const { token: key } = await makeKey(rapport, { scopes: some })
  const limited = { url: rapport.url, key, call: client(rapport.url, key) }
  refused(await upload(limited, '?resource=deals', 'name\nx\n'), 403, 'forbidden')
  const file = 'first_name,last_name,company\nNo,Maker,Never Made\nHas,Company,Kontor\n'
  const done = await importFile(limited, { resource: 'contacts' }, file)
  assert.deepEqual([done.created, done.failed], [1, 1])
  assert.match(
    (await limited.call('GET', `/api/v1/imports/${done.id}/errors`)).text,
    /companies:write.*,not_found\r/,
  )
  assert.ok(
    (await limited.call('GET', '/api/v1/imports')).body.data.every(
      ({ resource }: { resource: string }) => resource === 'contacts',
    ),
  )
})

test('ids of an export count in the workspace that exported it, and link no stranger elsewhere', async () => {
  const made = async (kind: string, body: object) =>
    (await rapport.call('POST', `/api/v1/${kind}`, body)).body.data
  const ana = await made('contacts', { first_name: 'Ana', last_name: 'Stranger' })
  const deal = await made('deals', { name: '=1+1', contact_id: ana.id })
  const original = await made('activities', { subject: "'=x", contact_id: ana.id, deal_id: deal.id })
  const files: [string, string][] = []
  for (const format of ['csv', 'ndjson']) {
    const path = `/api/v1/activities/export?format=${format}&deal_id=${deal.id}`
    files.push([format, (await rapport.call('GET', path)).text])
  }
  for (const [format, text] of files) {
    const type = { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' }
    const again = async (file: string) => {
      const done = await importFile(rapport, { resource: 'activities' }, file, type)
      assert.deepEqual([done.created, done.failed], [1, 0])
      const [{ contact_id, deal_id }] = await found('activities?sort=-id&per_page=1')
      return { links: [contact_id, deal_id], errors: await errorsOf(done.id) }
    }
    const own = await again(text)
    assert.deepEqual(own.links, [ana.id, deal.id])
    assert.doesNotMatch(own.errors, /_id,/)
    // Another installation has the same ids, and made its record at another time.
    const foreign = await again(text.replaceAll(original.created_at, '2020-01-31T09:00:00.000Z'))
    assert.deepEqual(foreign.links, [null, null])
    assert.match(foreign.errors, /contact_id,.*export of another workspace.*,other_workspace\r/)
    assert.match(foreign.errors, /deal_id,.*export of another workspace.*,other_workspace\r/)
  }
  const plain = await importFile(rapport, { resource: 'deals' }, `name,contact_id\nBy id,${ana.id}\n`)
  assert.deepEqual([plain.created, plain.failed], [1, 0])
  const unknown = await importFile(rapport, { resource: 'deals' }, 'name,contact_id\nBy id,999999\n')
  assert.equal(unknown.failed, 1)
})

test('of many uploads that begin at the same time, ten wait and the others are refused', async (t) => {
  const receiving = await startRapport({ roles: ['api'] })
  t.after(() => receiving.close())
  const replies = await Promise.all(
    Array.from({ length: 40 }, () =>
      unlessBusy(() => upload(receiving, '?resource=companies', 'name\nNordwind\n')),
    ),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [
    ...Array(10).fill(202),
    ...Array(30).fill(409),
  ])
})
