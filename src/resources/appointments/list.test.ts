// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { problems } from '../../../test/envelope.ts'
import { turnableClock, useRapport } from '../../../test/harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })

const path = '/api/v1/appointments'
async function ok(method: string, url: string, body?: object) {
  const reply = await rapport.call(method, url, body)
  assert.ok(reply.status < 300, reply.text)
  return reply.body
}
type Shown = { id: number; start_at: string } & Record<string, unknown>
const list = async (query: string): Promise<{ data: Shown[]; meta: Record<string, unknown> }> =>
  ok('GET', `${path}?per_page=100&${query}`)

test('every filter alone, and all together, finds what a look at each appointment finds, with the exact total', async () => {
  const contacts: number[] = []
  const pages: number[] = []
  const deals: number[] = []
  const deal_of = new Map<number, number | null>()
  for (const n of [1, 2]) {
    contacts.push((await ok('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: `${n}` })).data.id)
    const page = { slug: `page-${n}`, title: 'Demo', time_zone: 'UTC' }
    pages.push((await ok('POST', '/api/v1/booking-pages', page)).data.id)
    deals.push((await ok('POST', '/api/v1/deals', { name: 'Seats' })).data.id)
  }
  const hour = (n: number) => `2026-12-01T${String(n).padStart(2, '0')}:00:00.000Z`
  for (let n = 0; n < 20; n++) {
    clock.advance(60_000)
    // Times in an order of their own; a long one reaches over others, on no page.
    const at = (n * 7) % 20
    const long = n % 5 ? 1 : 4
    const fields = {
      title: `Demo ${n}`,
      start_at: hour(at),
      end_at: hour(at + long),
      type: n % 4 ? 'demo' : null,
      contact_id: n % 3 ? contacts[n % 2] : null,
      booking_page_id: n % 5 ? pages[n % 2] : null,
      deal_id: n % 4 ? deals[n % 2] : null,
    }
    const { data } = await ok('POST', path, fields)
    deal_of.set(data.id, data.deal_id)
    if (n % 3 === 1) await ok('POST', `${path}/${data.id}/cancel`)
    if (n % 10 === 9) await ok('DELETE', `${path}/${data.id}`)
  }
  const { data: all } = await list('')
  assert.equal(all.length, 18)
  assert.deepEqual(
    all,
    all.toSorted((a, b) => b.id - a.id),
  )
  // The deal, the hosts and the guests are in the detail view alone.
  const id = all[3]?.id ?? 0
  assert.deepEqual(
    { ...all[3], deal_id: deal_of.get(id), host_ids: [], guest_ids: [] },
    (await ok('GET', `${path}/${id}`)).data,
  )

  const conditions: [string, (one: Shown) => boolean][] = [
    ['status=scheduled', ({ status }) => status === 'scheduled'],
    ['status=cancelled', ({ status }) => status === 'cancelled'],
    ['type=demo', ({ type }) => type === 'demo'],
    ['type=none', () => false],
    [`contact_id=${contacts[0]}`, ({ contact_id }) => contact_id === contacts[0]],
    [`booking_page_id=${pages[1]}`, ({ booking_page_id }) => booking_page_id === pages[1]],
    [`deal_id=${deals[0]}`, ({ id }) => deal_of.get(id) === deals[0]],
    ['deal_id=null', ({ id }) => deal_of.get(id) === null],
    [`start_from=${hour(8)}`, ({ start_at }) => start_at >= hour(8)],
    [`start_to=${hour(15)}`, ({ start_at }) => start_at <= hour(15)],
    [`end_from=${hour(8)}`, ({ end_at }) => String(end_at) >= hour(8)],
    ['start_from=2026-12-01T09:00:00%2B01:00', ({ start_at }) => start_at >= hour(8)],
    [
      `created_from=${all[10]?.created_at}`,
      ({ created_at }) => String(created_at) >= String(all[10]?.created_at),
    ],
  ]
  for (const [n, first] of conditions.entries())
    for (const second of conditions.slice(n)) {
      // A parameter is given once.
      if (first !== second && first[0].split('=')[0] === second[0].split('=')[0]) continue
      const query = first === second ? first[0] : `${first[0]}&${second[0]}`
      const { data, meta } = await list(query)
      const expected = all.filter((one) => first[1](one) && second[1](one))
      assert.deepEqual(
        data.map(({ id }) => id),
        expected.map(({ id }) => id),
        query,
      )
      assert.equal(meta.total, expected.length, query)
    }
})

test('sorted by start, both ways, by page and by cursor', async () => {
  const { data: all } = await list('')
  const expected = all.toSorted((a, b) => (a.start_at < b.start_at ? -1 : 1)).map(({ id }) => id)
  assert.deepEqual(
    (await list('sort=start_at')).data.map(({ id }) => id),
    expected,
  )
  assert.deepEqual(
    (await list('sort=-start_at')).data.map(({ id }) => id),
    expected.toReversed(),
  )
  const found: number[] = []
  for (let cursor: string | null = 'start'; cursor !== null; ) {
    const { data, meta } = await ok('GET', `${path}?per_page=4&sort=start_at&cursor=${cursor}`)
    found.push(...data.map(({ id }: Shown) => id))
    cursor = meta.next_cursor
  }
  assert.deepEqual(found, expected)
})

test('the id of a record in the trash matches nothing, an unknown status or order is refused', async () => {
  const contact = (await ok('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: 'Okafor' })).data
  const deal = (await ok('POST', '/api/v1/deals', { name: 'Seats' })).data
  const times = { start_at: '2026-12-03T10:00:00Z', end_at: '2026-12-03T11:00:00Z' }
  await ok('POST', path, { title: 'Demo', ...times, contact_id: contact.id, deal_id: deal.id })
  for (const [query, record] of [
    [`contact_id=${contact.id}`, `/api/v1/contacts/${contact.id}`],
    [`deal_id=${deal.id}`, `/api/v1/deals/${deal.id}`],
  ] as const) {
    assert.equal((await list(query)).meta.total, 1)
    await ok('DELETE', record)
    assert.deepEqual(await list(query), {
      success: true,
      data: [],
      meta: { current_page: 1, last_page: 1, per_page: 100, total: 0 },
    })
  }
  for (const [query, found] of [
    ['status=open', { status: 'unknown_value' }],
    ['sort=location', { sort: 'unknown_value' }],
    ['start_from=monday', { start_from: 'invalid_format' }],
  ] as const)
    assert.deepEqual(problems(await rapport.call('GET', `${path}?${query}`)), found)
})

test('with details=true each appointment has the name of its contact; without, exactly the list view', async () => {
  const call = await newWorkspace(rapport)
  const made = async (what: string, body: object) => (await call('POST', `/api/v1/${what}`, body)).body.data
  const shown = async (query: string) => (await call('GET', `${path}?${query}`)).body.data
  const person = { first_name: 'Ada', last_name: 'Okafor' }
  const contact = { id: (await made('contacts', person)).id, ...person }
  const gone = await made('contacts', person)
  const times = { start_at: '2026-12-05T10:00:00Z', end_at: '2026-12-05T11:00:00Z' }
  await made('appointments', { title: 'With Ada', ...times, contact_id: contact.id })
  await made('appointments', { title: 'With nobody', ...times })
  await made('appointments', { title: 'With somebody who is gone', ...times, contact_id: gone.id })
  assert.equal((await call('DELETE', `/api/v1/contacts/${gone.id}`)).status, 200)

  const plain = await shown('sort=id')
  const named = [{ contact }, { contact: null }, { contact: null }].map((name, at) => ({
    ...plain[at],
    ...name,
  }))
  assert.deepEqual(await shown('details=true&sort=id'), named)
  assert.deepEqual(await shown('details=true&per_page=2&cursor=start'), named.toReversed().slice(0, 2))
  assert.deepEqual(await shown('details=false&sort=id'), plain)
  assert.equal((await call('GET', `${path}?details=yes`)).status, 422)
})
