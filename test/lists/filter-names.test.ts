import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { before } from '../use.ts'
import { type Requests, request_env, startRequests } from '../valid-requests.ts'

const rapport = useRapport({ env: request_env })
let requests: Requests
before(async () => {
  requests = await startRequests(rapport)
})

const messageOf = async (path: string, name: string) => {
  const reply = await rapport.call(
    'GET',
    `/api/v1/${path}${path.includes('?') ? '&' : '?'}${encodeURIComponent(name)}=5`,
  )
  return refused(reply, 400, 'bad_request').message
}

test('the operators of other APIs are 400, and name the filter that was meant', async () => {
  const seats = 'custom_fields[seats]'
  for (const [name, meant] of [
    [`${seats}[gte]`, `${seats}_from`],
    [`${seats}[lt]`, `${seats}_to`],
    [`${seats}[]`, seats],
    [`${seats}_gte`, `${seats}_from`],
    [`${seats}__max`, `${seats}_to`],
    ['custom_fields[seats__gte]', `${seats}_from`],
    ['custom_fields[seats.lte]', `${seats}_to`],
    ['custom_fields[seats][gte]_from', undefined],
    ['custom_fields[seats][deep]', undefined],
    ['custom_fields.seats', seats],
    ['custom_fields.seats.gte', `${seats}_from`],
    ['custom_fields.seats[lte]', `${seats}_to`],
    ['filter[custom_fields][seats]', undefined],
    ['value[gte]', 'value_from'],
    ['value__LTE', 'value_to'],
    ['value_gte', 'value_from'],
    ['value.max', 'value_to'],
    ['filter[value][gte]', 'value_from'],
    ['where.stage', 'stage'],
    ['filters[stage]', 'stage'],
    ['stage[in]', 'stage'],
    ['stage[]', 'stage'],
    ['stage_not', 'stage'],
    ['created_at[after]', 'created_at_from'],
  ] as const) {
    const message = await messageOf('deals', name)
    assert.ok(message.startsWith(`"${name}" is not a parameter of this path.`), message)
    if (meant) assert.ok(message.includes(`Did you mean "${meant}"?`), message)
  }
  for (const path of ['deals/export', 'deals/groups?by=stage', 'contacts', 'activities/export'])
    assert.match(await messageOf(path, `${seats}[gte]`), /Did you mean "custom_fields\[seats\]_from"\?/)
})

test('a key of a custom field may have points, underscores and brackets', async () => {
  const keys = [
    'a.b',
    'a__b',
    'in',
    'gte',
    'x[1]',
    'from_to',
    'a:b',
    'pay.max',
    'pay__to',
    '__in',
    'valid_from',
    'x-max',
  ]
  const custom_fields = Object.fromEntries(keys.map((key) => [key, 'x']))
  await rapport.call('POST', '/api/v1/companies', { name: 'Keys', custom_fields })
  for (const key of keys) {
    const path = `/api/v1/companies?${encodeURIComponent(`custom_fields[${key}]`)}=x`
    assert.equal((await rapport.call('GET', path)).body.meta.total, 1, key)
  }
})

test('a field that is defined with the name of an operator at the end of its key is a filter', async () => {
  const name = 'custom_fields[built__in]'
  for (const path of ['deals', 'deals/export', 'deals/groups?by=stage'])
    assert.match(await messageOf(path, name), /Did you mean "custom_fields\[built\]"\? It takes several/)
  for (const operator of ['ne', 'NOT_IN', 'contains'])
    assert.match(await messageOf('contacts', `custom_fields[built__${operator}]`), /no field of this key/)
  const definition = { resource: 'deals', key: 'built__in', label: 'Built in', type: 'text' }
  assert.equal((await rapport.call('POST', '/api/v1/custom-fields', definition)).status, 201)
  await rapport.call('POST', '/api/v1/deals', { name: 'Built', custom_fields: { built__in: '5' } })
  const { status, body } = await rapport.call('GET', `/api/v1/deals?${encodeURIComponent(name)}=5`)
  assert.deepEqual([status, body.meta.total], [200, 1])
})

test('an operator behind the key of a defined field is an error, with any separator', async () => {
  const field = { resource: 'deals', key: 'chairs', label: 'Chairs', type: 'number' }
  assert.equal((await rapport.call('POST', '/api/v1/custom-fields', field)).status, 201)
  const meant = {
    _gte: '_from',
    '-max': '_to',
    ' after': '_from',
    '.$lt': '_to',
    ':from': '_from',
    _not: '',
    $: '',
  }
  for (const [end, range] of Object.entries(meant)) {
    const name = `custom_fields[chairs${end === '$' ? '_$in' : end}]`
    for (const path of ['deals', 'deals/export', 'deals/groups?by=stage'])
      assert.ok((await messageOf(path, name)).includes(`Did you mean "custom_fields[chairs]${range}"?`), name)
  }
  assert.match(
    await messageOf('deals', 'custom_fields[chairs]gte'),
    /Did you mean "custom_fields\[chairs\]_from"/,
  )
})

test('no path of the document takes a name that looks like a filter and is none', async () => {
  const operations = requests.operations.filter(({ method, caller }) => method === 'GET' && caller === 'key')
  for (const operation of operations) {
    const request = await requests.request(operation)
    const path = request.path.replace('/api/v1/', '')
    const names = operation.query.map(({ name }) => name).filter((name) => name !== 'custom_fields')
    for (const name of [...names.slice(0, 3), 'unheard'])
      for (const odd of [`${name}[gte]`, `${name}__gte`, `filter[${name}]`, `${name}[]`])
        await messageOf(path, odd)
  }
})
