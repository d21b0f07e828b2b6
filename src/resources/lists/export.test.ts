// runs: both
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { useRapport } from '../../../test/harness.ts'
import { importFile } from '../../../test/imports.ts'
import { unlessBusy, until } from '../../../test/webhooks.ts'

const rapport = useRapport()

const make = async (path: string, body: object) =>
  dataOf(await unlessBusy(() => rapport.call('POST', `/api/v1/${path}`, body)), 201)
const exported = (path: string) => rapport.call('GET', `/api/v1/${path}`)

test('an export has every field of the detail view, oldest first, and no formula', async () => {
  const company = await make('companies', { name: 'Acme, "Inc."' })
  const first = await make('contacts', {
    first_name: '=1+1',
    last_name: 'Ruiz',
    email: 'ana@acme.example',
    phone: '+34 910 55 01 42',
    company_id: company.id,
    tags: ['a;b', 'two\\'],
    custom_fields: { region: 'EMEA', size: 5 },
  })
  const second = await make('contacts', { first_name: 'Zoë', last_name: "'@x" })
  const csv = await exported('contacts/export')
  assert.equal(csv.status, 200)
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="contacts.csv"')
  assert.equal(csv.headers.get('x-total-count'), '2')
  assert.deepEqual(csv.text.split('\r\n'), [
    'id,first_name,last_name,email,phone,mobile,company_id,company,title,stage,source,custom_fields,tags,created_at,updated_at,owner_id,last_contacted_at,next_activity_at,open_deals_value',
    `${first.id},'=1+1,Ruiz,ana@acme.example,+34 910 55 01 42,,${company.id},"Acme, ""Inc.""",,,,"{""region"":""EMEA"",""size"":5}",a\\;b;two\\\\,${first.created_at},${first.updated_at},,,,0`,
    `${second.id},Zoë,''@x,,,,,,,,,,,${second.created_at},${second.updated_at},,,,0`,
    '',
  ])
  const lines = await exported('contacts/export?format=ndjson')
  assert.equal(lines.headers.get('content-type'), 'application/x-ndjson')
  assert.deepEqual(
    lines.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [first, second],
  )
})

test('each of the five lists has an export, with its filters and its orders', async () => {
  const one = await make('deals', { name: 'One', stage: 'demo', value: 12.5 })
  await make('deals', { name: 'Two', stage: 'proposal' })
  const two = await make('deals', { name: 'Three', stage: 'demo' })
  await make('activities', { subject: 'Call', type: 'call', body: 'two\nlines' })
  const at = '2030-01-08T12:00:00.000Z'
  await make('appointments', { title: 'Demo', start_at: at, end_at: '2030-01-08T13:00:00.000Z' })
  const { text, headers } = await exported('deals/export?format=ndjson&stage=demo&sort=-name')
  assert.equal(headers.get('x-total-count'), '2')
  assert.deepEqual(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [two, one].sort((a, b) => (a.name < b.name ? 1 : -1)),
  )
  for (const list of ['activities', 'appointments', 'companies'])
    assert.equal((await exported(`${list}/export`)).headers.get('x-total-count'), '1', list)
  const none = await exported('contacts/export?search=nobody')
  assert.deepEqual([none.headers.get('x-total-count'), none.text.split('\r\n').length], ['0', 2])
})

test('HEAD has the number of rows, and no row', async () => {
  const { status, headers, text } = await rapport.call('HEAD', '/api/v1/contacts/export?search=ruiz')
  assert.deepEqual([status, headers.get('x-total-count'), text], [200, '1', ''])
})

test('a defined custom field has a column of its own, and an import gives it its type', async () => {
  for (const [key, type] of [
    ['seats', 'number'],
    ['vip', 'boolean'],
    ['empty', 'text'],
  ] as const)
    await make('custom-fields', { resource: 'companies', key, label: key, type })
  const custom_fields = { seats: 5, vip: true, other: '7', empty: '' }
  await make('companies', { name: 'Defined', custom_fields })
  const { text } = await exported('companies/export?search=defined')
  assert.match(text, /^id,name,.*custom_fields\.empty,custom_fields\.seats,custom_fields\.vip,custom_fields,/)
  // A cell cannot tell an empty text from no value.
  assert.match(text, /,,5,true,"\{""other"":""7"",""empty"":""""\}",/)
  const done = await importFile(rapport, { resource: 'companies' }, text.replace('Defined', 'Again'))
  assert.deepEqual([done.created, done.failed], [1, 0])
  const [again] = (await exported('companies?search=again')).body.data
  assert.deepEqual(again.custom_fields, custom_fields)
})

test('an unknown parameter, a page and an unknown format are refused', async () => {
  for (const [query, status] of [
    ['page=2', 400],
    ['cursor=start', 400],
    ['format=xlsx', 422],
    ['sort=colour', 422],
  ] as const)
    assert.equal((await exported(`contacts/export?${query}`)).status, status, query)
})

test('an export shows one state although records change meanwhile, and a third one of the workspace waits', async () => {
  const body = 'x'.repeat(20_000)
  for (let n = 0; n < 700; n += 50)
    await Promise.all(Array.from({ length: 50 }, () => make('activities', { subject: 'Long', body })))
  const open = async (): Promise<IncomingMessage> => {
    const request = get(`${rapport.url}/api/v1/activities/export?format=ndjson`, {
      headers: { authorization: `Bearer ${rapport.key}` },
    })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }
  const [slow, abandoned] = [await open(), await open()]
  assert.equal(slow.headers['x-total-count'], '701')
  const third = await exported('activities/export')
  assert.equal(third.status, 503)
  assert.ok(Number(third.headers.get('retry-after')) > 0)
  await make('activities', { subject: 'Later' })
  await rapport.call('DELETE', '/api/v1/activities/2')
  abandoned.destroy()
  await until(() => exported('activities/export?type=call'), { status: 200 })
  let text = ''
  for await (const part of slow.setEncoding('utf8')) text += part
  const subjects = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).subject)
  assert.deepEqual([subjects.length, subjects.includes('Later')], [701, false])
})

test('an export of large records is sent in small pages, and of small records in large ones', async () => {
  const call = await newWorkspace(rapport)
  const { body } = await call('POST', '/api/v1/keys', { name: 'Reader' })
  const custom_fields = Object.fromEntries(
    Array.from({ length: 14 }, (_, n) => [`field_${n}`, 'x'.repeat(4096)]),
  )
  for (const fields of [{ custom_fields }, {}]) {
    const items = Array.from({ length: 100 }, (_, n) => ({
      op: 'create',
      data: { first_name: 'Ana', last_name: `Ruiz ${n}`, ...fields },
    }))
    for (let n = 0; n < 4; n++)
      assert.equal((await call('POST', '/api/v1/contacts/batch', { items })).status, 200)
  }
  const path = '/api/v1/contacts/export?format=ndjson'
  const large = await pagesOf(`${path}&sort=id`, body.data.token)
  assert.ok(Math.max(...large) < 3_000_000, `${Math.max(...large)} bytes`)
  const small = await pagesOf(`${path}&sort=-id`, body.data.token)
  // The first ones are small, in case the records are large. PostgreSQL reads one page ahead.
  assert.ok((small[2] as number) > (small[0] as number), small.join())
})

/** The bytes of each chunk of an answer. */
async function pagesOf(path: string, key: string): Promise<number[]> {
  const { hostname, port } = new URL(rapport.url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`)
  const answer = await buffer(socket)
  const sizes: number[] = []
  for (let at = answer.indexOf('\r\n\r\n') + 4; ; ) {
    const size = Number.parseInt(answer.toString('latin1', at, at + 10), 16)
    if (!size) return sizes
    sizes.push(size)
    at = answer.indexOf('\r\n', at) + 2 + size + 2
  }
}
