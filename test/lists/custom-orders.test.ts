// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../database.ts'
import { problems } from '../envelope.ts'
import { type Reply, useRapport } from '../harness.ts'

// Sorting and ranges of defined custom fields, against a plain look at each record.

const rapport = useRapport()

type Call = (method: string, path: string, body?: unknown) => Promise<Reply>
const ok = async (call: Call, method: string, path: string, body?: object) => {
  const reply = await call(method, `/api/v1${path}`, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body
}
// biome-ignore lint/suspicious/noExplicitAny: a record as JSON
type Item = { id: number; custom_fields: Record<string, any> }

/** The ids of a list by pages, with the total checked, and by cursor. */
async function listed(call: Call, query: string): Promise<number[]> {
  const ids: number[] = []
  for (let page = 1; ; page++) {
    const { data, meta } = await ok(call, 'GET', `/companies?${query}&per_page=4&page=${page}`)
    ids.push(...data.map(({ id }: Item) => id))
    if (page < meta.last_page) continue
    assert.equal(meta.total, ids.length, query)
    break
  }
  const by_cursor: number[] = []
  for (let cursor: string | null = 'start'; cursor !== null; ) {
    const { data, meta }: Reply['body'] = await ok(
      call,
      'GET',
      `/companies?${query}&per_page=4&cursor=${cursor}`,
    )
    by_cursor.push(...data.map(({ id }: Item) => id))
    cursor = meta.next_cursor
  }
  assert.deepEqual(by_cursor, ids, query)
  return ids
}

const values: Record<string, unknown[]> = {
  seats: [12.5, -3, 0, 1e21, 12.5, undefined, -0.0001, 7, undefined, 12.4999, 100, 9],
  renewal: [
    '2027-01-31',
    '2026-12-31',
    undefined,
    '2027-01-31',
    '0001-01-01',
    '9999-12-31',
    undefined,
    '2026-02-28',
  ],
  region: ['Ärzte', 'arzte', 'Zoë', undefined, 'ß', 'ss', 'EMEA', 'emea', 'größer', undefined],
}

async function fill(): Promise<{ call: Call; all: Item[] }> {
  const call = await newWorkspace(rapport)
  for (const [key, type] of [
    ['seats', 'number'],
    ['renewal', 'date'],
    ['region', 'text'],
  ])
    await ok(call, 'POST', '/custom-fields', { resource: 'companies', key, label: key, type })
  const all: Item[] = []
  for (let n = 0; n < 12; n++) {
    const custom_fields = Object.fromEntries(
      Object.entries(values).flatMap(([key, list]) => (list[n] === undefined ? [] : [[key, list[n]]])),
    )
    const body = { name: `Company ${n}`, industry: n % 2 ? 'Retail' : 'Health', custom_fields }
    all.push((await ok(call, 'POST', '/companies', body)).data)
  }
  // Neither the trash nor another kind is in the list.
  await ok(call, 'DELETE', `/companies/${all[4]?.id}`)
  await ok(call, 'POST', '/contacts', { first_name: 'A', last_name: 'B', custom_fields: { seats: 5 } })
  return { call, all: all.filter((_, n) => n !== 4) }
}

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll('ß', 'ss')

test('a list sorts by a defined field, numbers as numbers; records without a value come last, and first backwards', async () => {
  const { call, all } = await fill()
  for (const key of Object.keys(values)) {
    const keyOf = ({ custom_fields }: Item) => {
      const value = custom_fields[key]
      return typeof value === 'string' ? fold(value) : value
    }
    const valued = all.filter((item) => keyOf(item) !== undefined)
    valued.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : a.id - b.id))
    const sorted = [...valued, ...all.filter((item) => keyOf(item) === undefined)].map(({ id }) => id)
    assert.deepEqual(await listed(call, `sort=custom_fields.${key}`), sorted, key)
    assert.deepEqual(await listed(call, `sort=-custom_fields.${key}`), sorted.toReversed(), key)
    const retail = new Set(all.filter((_, n) => (n < 4 ? n % 2 : (n + 1) % 2)).map(({ id }) => id))
    assert.deepEqual(
      await listed(call, `sort=custom_fields.${key}&industry=Retail`),
      sorted.filter((id) => retail.has(id)),
      key,
    )
  }
})

test('a list takes a range of a defined number or date, both ends included, alone and with other filters', async () => {
  const { call, all } = await fill()
  const found = (holds: (fields: Item['custom_fields']) => boolean) =>
    all
      .filter(({ custom_fields }) => holds(custom_fields))
      .map(({ id }) => id)
      .reverse()
  const range = (key: string, from?: string, to?: string) =>
    [from && `custom_fields[${key}]_from=${from}`, to && `custom_fields[${key}]_to=${to}`]
      .filter(Boolean)
      .join('&')
  assert.deepEqual(
    await listed(call, range('seats', '-0.0001', '12.5')),
    found(({ seats }) => seats >= -0.0001 && seats <= 12.5),
  )
  assert.deepEqual(
    await listed(call, range('seats', '12.5')),
    found(({ seats }) => seats >= 12.5),
  )
  assert.deepEqual(
    await listed(call, range('renewal', '2026-12-31', '2027-01-31')),
    found(({ renewal }) => renewal >= '2026-12-31' && renewal <= '2027-01-31'),
  )
  const both = `${range('seats', '0')}&${range('renewal', undefined, '2027-01-31')}&sort=-id`
  assert.deepEqual(
    await listed(call, both),
    found(({ seats, renewal }) => seats >= 0 && renewal <= '2027-01-31'),
  )
})

test('an order or a range of an undefined field, of another type, and a malformed end are 422', async () => {
  const { call } = await fill()
  const problem = async (query: string) => problems(await call('GET', `/api/v1/companies?${query}`))
  assert.deepEqual(await problem('sort=custom_fields.colour'), { sort: 'unknown_value' })
  assert.deepEqual(await problem('sort=custom_fields.'), { sort: 'unknown_value' })
  assert.deepEqual(await problem('custom_fields[colour]_from=1'), {
    'custom_fields[colour]_from': 'not_defined',
  })
  assert.deepEqual(await problem('custom_fields[region]_to=x'), { 'custom_fields[region]_to': 'not_defined' })
  assert.deepEqual(await problem('custom_fields[seats]_from=many&custom_fields[renewal]_to=2026-02-30'), {
    'custom_fields[seats]_from': 'invalid_type',
    'custom_fields[renewal]_to': 'invalid_format',
  })
  for (const end of ['0x10', '1_000', '1e999', ''])
    assert.deepEqual(
      await problem(`custom_fields[seats]_to=${end}`),
      { 'custom_fields[seats]_to': 'invalid_type' },
      end,
    )
  const { next_cursor } = (
    await ok(call, 'GET', '/companies?sort=custom_fields.seats&per_page=2&cursor=start')
  ).meta
  assert.deepEqual(await problem(`sort=custom_fields.region&cursor=${next_cursor}`), {
    cursor: 'invalid_cursor',
  })
})

test('a key of 64 characters of four bytes is filtered, ranged and sorted like any other', async () => {
  const call = await newWorkspace(rapport)
  const key = '😀'.repeat(64)
  await ok(call, 'POST', '/custom-fields', { resource: 'companies', key, type: 'number' })
  const made: number[] = []
  for (const value of [2, 1, undefined]) {
    const body = { name: 'Acme', custom_fields: { [key]: value } }
    made.push((await ok(call, 'POST', '/companies', body)).data.id)
  }
  const [two, one] = made
  const field = encodeURIComponent(`custom_fields[${key}]`)
  const sort = encodeURIComponent(`custom_fields.${key}`)
  assert.deepEqual(await listed(call, `${field}=1`), [one])
  assert.deepEqual(await listed(call, `${field}_from=2`), [two])
  assert.deepEqual(await listed(call, `sort=${sort}&${field}=!null`), [one, two])
})

test('an export has the order and the ranges of defined fields', async () => {
  const { call } = await fill()
  const query = 'custom_fields[seats]_from=9&sort=-custom_fields.seats'
  const reply = await call('GET', `/api/v1/companies/export?format=ndjson&${query}`)
  const ids = reply.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  assert.deepEqual(ids, await listed(call, query))
})
