// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newWorkspace } from '../database.ts'
import { type Reply, turnableClock, useRapport } from '../harness.ts'
import { runs } from '../quick.ts'

// Sorting, filters and cursors of the lists of records, against a model in memory.

const clock = turnableClock()
const rapport = useRapport({ clock })

// biome-ignore lint/suspicious/noExplicitAny: a record as JSON, of which the test says what it expects
type Item = { id: number } & Record<string, any>
type Call = (method: string, path: string, body?: unknown) => Promise<Reply>
type Walk = (path: string, query: string, per_page: number) => Promise<Item[]>

const ok = async (call: Call, method: string, path: string, body?: unknown) => {
  const reply = await call(method, path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body
}

// All records of a list, page by page, with the total checked on each.
const byPages = (call: Call): Walk =>
  async function walk(path, query, per_page) {
    const items: Item[] = []
    for (let page = 1; ; page++) {
      const { data, meta } = await ok(call, 'GET', `${path}?${query}&per_page=${per_page}&page=${page}`)
      items.push(...data)
      if (page >= meta.last_page) {
        assert.equal(meta.total, items.length, query)
        return items
      }
    }
  }
const byCursor = (call: Call): Walk =>
  async function walk(path, query, per_page) {
    const items: Item[] = []
    for (let cursor = 'start'; ; ) {
      const answer = await ok(call, 'GET', `${path}?${query}&per_page=${per_page}&cursor=${cursor}`)
      items.push(...answer.data)
      const { next_cursor, ...rest } = answer.meta
      assert.deepEqual(rest, { per_page })
      if (next_cursor === null) return items
      assert.equal(answer.data.length, per_page)
      cursor = next_cursor
    }
  }

const names = ['Ärger', 'arger', 'Zoë', 'Öz', 'beta', 'Beta', 'ßa', 'ssb', 'alpha'] as const
const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll('ß', 'ss')

type Key = (item: Item) => string | number
const compare = (keys: [Key, 1 | -1][]) => (a: Item, b: Item) => {
  for (const [key, sign] of keys) {
    const [x, y] = [key(a), key(b)]
    if (x !== y) return (x < y ? -1 : 1) * sign
  }
  return 0
}
const id: Key = (item) => item.id
const created: Key = (item) => item.created_at
const updated: Key = (item) => item.updated_at

// The same order for each resource's sort text; ids break ties in the direction of the sort's last part.
const contact_sorts: Record<string, [Key, 1 | -1][]> = {
  '': [[id, -1]],
  '-id': [[id, -1]],
  id: [[id, 1]],
  created_at: [
    [created, 1],
    [id, 1],
  ],
  '-updated_at': [
    [updated, -1],
    [id, -1],
  ],
  last_name: [
    [(c) => fold(c.last_name), 1],
    [(c) => fold(c.first_name), 1],
    [id, 1],
  ],
  '-last_name': [
    [(c) => fold(c.last_name), -1],
    [(c) => fold(c.first_name), -1],
    [id, -1],
  ],
}
const value: Key = (deal) => deal.value ?? -1
const dealName: Key = (deal) => fold(deal.name)
const closing: Key = (deal) => deal.expected_close_date ?? '~'
const deal_sorts: Record<string, [Key, 1 | -1][]> = {
  '-value,name': [
    [value, -1],
    [dealName, 1],
    [id, 1],
  ],
  '-value': [
    [value, -1],
    [dealName, 1],
    [id, 1],
  ],
  'value,-name': [
    [value, 1],
    [dealName, -1],
    [id, -1],
  ],
  name: [
    [dealName, 1],
    [id, 1],
  ],
  '-name': [
    [dealName, -1],
    [id, -1],
  ],
  expected_close_date: [
    [closing, 1],
    [id, 1],
  ],
  '-expected_close_date': [
    [closing, -1],
    [id, -1],
  ],
  '-created_at': [
    [created, -1],
    [id, -1],
  ],
}

const name = fc.constantFrom(...names)
const contact_facts = fc.record({
  first_name: name,
  last_name: name,
  stage: fc.constantFrom(null, 'lead', 'customer'),
  tags: fc.uniqueArray(fc.constantFrom('vip', 'partner', 'Ä b'), { maxLength: 2 }),
  custom_fields: fc.record(
    {
      size: fc.constantFrom<string | number>(5, '5', 0.0000001, 'x'.repeat(150), 'x'.repeat(151)),
      'a]b"': fc.boolean(),
    },
    { requiredKeys: [] },
  ),
})
const deal_facts = fc.record({
  name,
  value: fc.constantFrom(null, 0, 12.5, 1000, 99_999_999_999.9999),
  stage: fc.constantFrom('new_lead', 'won', 'proposal'),
  expected_close_date: fc.constantFrom(null, '2026-12-31', '2027-01-01'),
})

const field = (key: string, text: string) =>
  `custom_fields%5B${encodeURIComponent(key)}%5D=${encodeURIComponent(text)}`
const contact_filters: Record<string, (contact: Item) => boolean> = {
  '': () => true,
  'stage=lead': (contact) => contact.stage === 'lead',
  'tag=vip': (contact) => contact.tags.includes('vip'),
  'tag=%C3%84%20b&stage=customer': (contact) => contact.tags.includes('Ä b') && contact.stage === 'customer',
  [field('size', '5')]: (contact) => String(contact.custom_fields.size) === '5',
  [field('size', '0.0000001')]: (contact) => contact.custom_fields.size === 0.0000001,
  [field('size', 'x'.repeat(151))]: (contact) => contact.custom_fields.size === 'x'.repeat(151),
  [field('a]b"', 'true')]: (contact) => contact.custom_fields['a]b"'] === true,
  'search=a&tag=partner': (contact) =>
    contact.tags.includes('partner') && /a/.test(fold(`${contact.first_name}\n${contact.last_name}`)),
  'search=arg&tag=vip': (contact) =>
    contact.tags.includes('vip') && /arg/.test(fold(`${contact.first_name}\n${contact.last_name}`)),
  'search=zoe': (contact) => /zoe/.test(fold(`${contact.first_name}\n${contact.last_name}`)),
}

test('every sort and filter gives what a model gives, by pages and by cursor alike', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(contact_facts, { minLength: 5, maxLength: 25 }),
      fc.array(deal_facts, { minLength: 5, maxLength: 25 }),
      fc.integer({ min: 1, max: 9 }),
      async (contacts, deals, per_page) => {
        const call = await newWorkspace(rapport)
        const make = async (path: string, facts: object[]) => {
          const made: Item[] = []
          for (const [n, body] of facts.entries()) {
            if (n % 3 === 0) clock.advance(1000)
            made.push((await ok(call, 'POST', path, body)).data)
          }
          // A change of the dates' order, one less, and one that goes and comes back.
          clock.advance(1000)
          const [first, second, third] = made as [Item, Item, Item]
          const change = path.endsWith('contacts') ? { source: 'web' } : { priority: 'high' }
          Object.assign(first, (await ok(call, 'PUT', `${path}/${first.id}`, change)).data)
          await ok(call, 'DELETE', `${path}/${second.id}`)
          await ok(call, 'DELETE', `${path}/${third.id}`)
          Object.assign(third, (await ok(call, 'POST', `${path}/${third.id}/restore`)).data)
          return made.filter((item) => item !== second)
        }
        const check = async (
          path: string,
          items: Item[],
          sorts: typeof contact_sorts,
          filters: typeof contact_filters,
        ) => {
          for (const [way, walk] of Object.entries({ pages: byPages(call), cursor: byCursor(call) }))
            for (const [sort, keys] of Object.entries(sorts))
              for (const [filter, fits] of Object.entries(filters)) {
                const query = sort ? `sort=${sort}&${filter}` : filter
                const found = await walk(path, query, per_page)
                const expected = items.filter(fits).sort(compare(keys))
                assert.deepEqual(found.map(id), expected.map(id), `${query} by ${way}`)
              }
        }
        const people = await make('/api/v1/contacts', contacts)
        await check('/api/v1/contacts', people, contact_sorts, contact_filters)
        const [some] = people as [Item]
        const sales = await make('/api/v1/deals', deals)
        await check('/api/v1/deals', sales, deal_sorts, {
          '': () => true,
          'stage=won': (deal) => deal.stage === 'won',
          'status=open': (deal) => deal.status === 'open',
          [`created_from=${some.created_at}`]: () => true,
          [`updated_to=${(sales[3] as Item).updated_at}&status=open`]: (deal) =>
            deal.updated_at <= (sales[3] as Item).updated_at && deal.status === 'open',
          [`created_from=${(sales[2] as Item).created_at}&created_to=${(sales[3] as Item).created_at}`]: (
            deal,
          ) =>
            deal.created_at >= (sales[2] as Item).created_at &&
            deal.created_at <= (sales[3] as Item).created_at,
        })
      },
    ),
    { numRuns: runs(6) },
  )
})

test('a page by cursor neither repeats nor misses a record while others come and go', async () => {
  const call = await newWorkspace(rapport)
  const ids: number[] = []
  for (let n = 0; n < 12; n++)
    ids.push((await ok(call, 'POST', '/api/v1/deals', { name: 'Same', value: n % 3 })).data.id)
  const first = await ok(call, 'GET', '/api/v1/deals?sort=-value&per_page=5&cursor=start')
  await ok(call, 'POST', '/api/v1/deals', { name: 'A newcomer in front', value: 1e6 })
  await ok(call, 'DELETE', `/api/v1/deals/${first.data.at(-1).id}`)
  const rest = await ok(call, 'GET', `/api/v1/deals?sort=-value&per_page=20&cursor=${first.meta.next_cursor}`)
  const seen = [...first.data, ...rest.data].map(id)
  assert.deepEqual(seen.toSorted(), ids.toSorted())
})

test('a sort without an index is refused with those that have one, a cursor of another list with what to send', async () => {
  const call = await newWorkspace(rapport)
  const problem = async (query: string) => {
    const { status, body } = await call('GET', `/api/v1/deals?${query}`)
    assert.equal(status, 422, query)
    return body.error.fields[0]
  }
  for (const sort of ['priority', 'name,-value', 'value,name', '-value,name,id', 'name,', ''])
    assert.match((await problem(`sort=${sort}`)).message, /sort must be one of .*-value, -value,name/, sort)
  await ok(call, 'POST', '/api/v1/deals', { name: 'One' })
  await ok(call, 'POST', '/api/v1/deals', { name: 'Two' })
  const { meta } = await ok(call, 'GET', '/api/v1/deals?per_page=1&sort=name&cursor=start')
  const forged = [
    ['-value,name', 1, 'one', 'x'],
    ['-value,name', 'x', 'one', 1],
    ['-value,name', 1, 'one', 1.5],
    ['-value,name', 1, 'a\u0000', 1],
    ['-value,name', 1, 'one'],
  ]
  const encoded = forged.map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url'))
  for (const cursor of [meta.next_cursor, 'x', 'W10', 'bnVsbA', 'A'.repeat(1999), ...encoded])
    assert.equal((await problem(`sort=-value&cursor=${cursor}`)).code, 'invalid_cursor')
  // The same order, but another list.
  const other = (await ok(call, 'GET', '/api/v1/deals?per_page=1&cursor=start')).meta.next_cursor
  assert.equal((await call('GET', `/api/v1/companies?cursor=${other}`)).status, 422)
  assert.equal((await call('GET', `/api/v1/deals?cursor=${other}`)).status, 200)
  assert.equal((await problem('created_from=yesterday')).field, 'created_from')
  assert.equal((await call('GET', '/api/v1/booking-pages?tag=vip')).status, 400)
  assert.equal((await call('GET', '/api/v1/booking-pages?custom_fields%5Bx%5D=1')).status, 400)
  assert.equal((await call('GET', '/api/v1/companies?custom_fields%5Bx%5D=1')).status, 200)
  assert.equal((await call('GET', '/api/v1/companies?custom_fields=1')).status, 400)
})

test('a time with an offset is understood as the instant that it is', async () => {
  const call = await newWorkspace(rapport)
  const { data } = await ok(call, 'POST', '/api/v1/contacts', { first_name: 'A', last_name: 'B' })
  const local = new Date(Date.parse(data.created_at) + 2 * 3_600_000).toISOString().replace('Z', '+02:00')
  const count = async (query: string) => (await ok(call, 'GET', `/api/v1/contacts?${query}`)).meta.total
  assert.equal(
    await count(`created_from=${encodeURIComponent(local)}&created_to=${encodeURIComponent(local)}`),
    1,
  )
})

test('webhooks and their log can be read by cursor too, every entry once', async () => {
  const call = await newWorkspace(rapport)
  const urls = [1, 2, 3, 4, 5].map((n) => `http://127.0.0.1:9/${n}`)
  for (const url of urls) await ok(call, 'POST', '/api/v1/webhooks', { url, events: ['company.created'] })
  for (const name of ['A', 'B']) await ok(call, 'POST', '/api/v1/companies', { name })
  for (const [path, count] of [
    ['/api/v1/webhooks', 5],
    ['/api/v1/deliveries', 10],
  ] as const) {
    const [pages, cursors] = [await byPages(call)(path, '', 2), await byCursor(call)(path, '', 2)]
    assert.equal(new Set(pages.map(id)).size, count)
    assert.deepEqual(cursors.map(id), pages.map(id))
  }
  assert.equal((await byCursor(call)('/api/v1/deliveries', 'event=company.created', 3)).length, 10)
  const { meta } = await ok(call, 'GET', '/api/v1/webhooks?per_page=1&cursor=start')
  assert.equal((await call('GET', `/api/v1/deliveries?cursor=${meta.next_cursor}`)).status, 422)
})
