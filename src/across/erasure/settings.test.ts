import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStored } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { useRapport } from '../../../test/harness.ts'
import { importFile } from '../../../test/imports.ts'
import { type Operation, readOperations } from '../../../test/operations.ts'
import { createNaming } from './person.ts'

const rapport = useRapport()
const ok = async (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  dataOf(await rapport.call(method, `/api/v1${path}`, body, headers))

const person = {
  first_name: 'Zébuline',
  last_name: 'Quørndale',
  email: 'zq.private@quux.example',
  phone: '+49 151 2347 9981',
}
const traces = [/z[eé]buline/iu, /qu[oø]rndale/iu, /zq\.private/i, /2347.?9981/, /maidenhart/i]

let number = 0
const make = (path: string, body: object) =>
  ok('POST', path, body, { 'idempotency-key': `${path} ${number++}` })

/** Settings that name the person in each way, and those of others, which stay. */
async function nameEverywhere() {
  const view = (name: string, query: string, more = {}) =>
    make('/views', { list: 'contacts', name, query, ...more })
  const kept = [
    await view('Zebulon', 'search=zebulon&stage=lead'),
    await view('Quux', 'search=quux&sort=-created_at'),
    await view('Private', 'search=private+quorn'),
    await view('Number', 'search=0151+2347+9982'),
    await view('Part', 'search=2347'),
  ]
  const named = [
    await view('One', 'stage=lead&search=qu%C3%B8rndale&sort=last_name'),
    await view('Two', 'search=Zebuline'),
    await view('Three', 'search=quorndale+zeb'),
    await view('Four', 'email=ZQ.private%40quux.example'),
    await view('Five', 'phone=%2B49%20(151)%2023479981'),
    await view('Six', 'search=Maidenhart'),
    await view('For Zebuline Quorndale', 'stage=lead'),
    await view('Seven', 'stage=lead&search=0151%2F2347-9981'),
    await view('Eight', 'search=23479981'),
    await view('Nine', 'search=zebuline+479981'),
  ]
  const changed = await view('Changed', 'search=quørndale')
  await ok('PUT', `/views/${changed.id}`, { query: 'stage=lead' })
  const removed = await view('Removed', 'search=quørndale')
  await ok('DELETE', `/views/${removed.id}`)
  const hook = await make('/webhooks', {
    name: 'To Quørndale, Zébuline',
    url: 'http://127.0.0.1:9/hook',
    events: ['contact.updated'],
    conditions: [
      { field: 'data.email', op: 'eq', value: person.email },
      { field: 'data.last_name', op: 'in', value: ['Quørndale', 'Quorn'] },
      { field: 'data.title', op: 'eq', value: 'Buyer' },
    ],
  })
  await ok('PUT', `/webhooks/${hook.id}`, { ordered: true })
  const field = await make('/custom-fields', {
    resource: 'deals',
    key: 'contact',
    label: 'Except Zébuline Quørndale',
    type: 'select',
    options: ['Ana', person.email, 'Zebulon'],
  })
  const key = await make('/keys', { name: 'Sync of zébuline quørndale', scopes: ['contacts:read'] })
  const file = `first_name,last_name,email\nZébuline,Quørndale,no\nAna,Ruiz,no\n`
  await importFile(rapport, { resource: 'contacts', file_name: 'Zébuline Quørndale.csv' }, file)
  return { kept, named, hook, field, key }
}

/** Every GET of the document that needs no id, and each GET of an id that one of them lists. */
async function answersOfAll(): Promise<[string, string][]> {
  const operations = (await readOperations(rapport)).filter(({ method }) => method === 'GET')
  const answers: [string, string][] = []
  const read = async ({ query }: Operation, path: string) => {
    const pages = query.some(({ name }) => name === 'per_page') ? '?per_page=100' : ''
    const { text, body } = await rapport.call('GET', path + pages)
    answers.push([path, text])
    return Array.isArray(body?.data) ? (body.data as { id?: string | number }[]) : []
  }
  for (const one of operations.filter(({ path }) => !path.includes('{') && !/stream|mcp/.test(path)))
    for (const { id } of await read(one, one.path))
      for (const of of operations)
        if (id !== undefined && of.path.replace(/\{\w+\}/, '').startsWith(`${one.path}/`))
          if (/^[^{]*\{\w+\}[^{]*$/.test(of.path)) await read(of, of.path.replace(/\{\w+\}/, String(id)))
  return answers
}

test('after an erasure no answer and no setting names the person: views, webhooks, fields, imports, keys, their history', async () => {
  const { id } = await make('/contacts', { ...person, last_name: 'Maidenhart' })
  await ok('PUT', `/contacts/${id}`, { last_name: person.last_name })
  const { kept, named, hook, field, key } = await nameEverywhere()
  const found = (await answersOfAll()).filter(([, text]) => traces.some((trace) => trace.test(text)))
  const paths = found.map(([path]) => path.split('/')[3])
  for (const path of ['views', 'webhooks', 'custom-fields', 'keys', 'imports', 'audit-log'])
    assert.ok(paths.includes(path), `${path} is not read`)

  await ok('DELETE', `/contacts/${id}`)
  await ok('DELETE', `/trash/contacts/${id}`)

  for (const view of kept) assert.deepEqual(await ok('GET', `/views/${view.id}`), view)
  const queries = await Promise.all(named.map(async ({ id }) => (await ok('GET', `/views/${id}`)).query))
  assert.deepEqual(queries, [
    'stage=lead&search=erased&sort=last_name',
    'search=erased',
    'search=erased',
    'email=erased',
    'phone=erased',
    'search=erased',
    'stage=lead',
    'stage=lead&search=erased',
    'search=erased',
    'search=erased',
  ])
  const { name, conditions } = await ok('GET', `/webhooks/${hook.id}`)
  assert.deepEqual(
    [name, conditions.map(({ value }: { value: unknown }) => value)],
    ['erased', ['erased', ['erased', 'Quorn'], 'Buyer']],
  )
  const { label, options } = await ok('GET', `/custom-fields/${field.id}`)
  assert.deepEqual([label, options], ['erased', ['Ana', 'erased', 'Zebulon']])
  const keys = await ok('GET', '/keys')
  assert.equal(keys.find((one: { id: string }) => one.id === key.id).name, 'erased')

  for (const [path, text] of await answersOfAll())
    for (const trace of traces) assert.doesNotMatch(text, trace, path)
  const stored = await readStored(rapport.data_dir)
  const kept_answers = await stored.rows('SELECT path FROM idempotency_keys')
  await stored.close()
  assert.equal(kept_answers.length, kept.length)
})

test('an erasure leaves conditions and views by a code that equals a name of the person', async () => {
  const { id } = await make('/contacts', { first_name: 'Won', last_name: 'Lead', email: 'won@quux.example' })
  const view = await make('/views', { list: 'deals', name: 'Closed', query: 'stage=won&sort=-value' })
  const conditions = [
    { field: 'data.stage', op: 'eq', value: 'won' },
    { field: 'data.name', op: 'contains', value: 'Won' },
  ]
  const hook = await make('/webhooks', {
    name: 'Billing',
    url: 'http://127.0.0.1:9/hook',
    events: ['deal.updated'],
    conditions,
  })
  await ok('DELETE', `/contacts/${id}`)
  await ok('DELETE', `/trash/contacts/${id}`)
  assert.equal((await ok('GET', `/views/${view.id}`)).query, 'stage=won&sort=-value')
  assert.deepEqual((await ok('GET', `/webhooks/${hook.id}`)).conditions, [
    conditions[0],
    { ...conditions[1], value: 'erased' },
  ])
})

test('the names of a record that had thousands are found in a time that grows with their number, not with its square', () => {
  const cpuOf = (count: number) => {
    const first_names = Array.from({ length: count }, (_, n) => `Ana ${n}`)
    const last_names = Array.from({ length: count }, (_, n) => `Ruiz ${n}`)
    const before = process.cpuUsage()
    const { names } = createNaming({ emails: [], phones: [], first_names, last_names })
    assert.ok(names(`Dear Ruiz ${count - 1}, Ana 7: hello`))
    assert.ok(!names('Ana 7 and Ruiz 8'))
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  cpuOf(2000)
  // The square of the number is 400 times as much.
  assert.ok(cpuOf(4000) < 100 * (cpuOf(200) + 1000))
})
