// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { problems } from '../../../test/envelope.ts'
import { callOf, useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'

const rapport = useRapport()
const call = callOf(rapport)

const path = '/api/v1/companies'
const list = async (query = '') => {
  const reply = await call('GET', `${path}${query}`)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(Object.keys(reply.body), ['success', 'data', 'meta'])
  return reply.body
}
const meta = (current_page: number, last_page: number, per_page: number, total: number) => ({
  current_page,
  last_page,
  per_page,
  total,
})

test('an empty list has one page', async () => {
  assert.deepEqual(await list(), { success: true, data: [], meta: meta(1, 1, 25, 0) })
  assert.deepEqual((await list('?page=7')).meta, meta(7, 1, 25, 0))
})

test('pages are stable, newest first, and hold every record once', async () => {
  const ids: number[] = []
  for (let index = 0; index < 57; index++)
    ids.unshift((await call('POST', path, { name: `Company ${index}` })).body.data.id)
  const first = await list()
  assert.deepEqual(first.meta, meta(1, 3, 25, 57))
  assert.deepEqual(first.data[0], (await call('GET', `${path}/${ids[0]}`)).body.data)
  const seen: number[] = []
  for (const page of [1, 2, 3])
    seen.push(...(await list(`?page=${page}`)).data.map(({ id }: { id: number }) => id))
  assert.deepEqual(seen, ids)
})

test('a page past the end is 200 and empty, with the true total', async () => {
  for (const page of [4, 1000, 9007199254740991])
    assert.deepEqual(await list(`?page=${page}`), { success: true, data: [], meta: meta(page, 3, 25, 57) })
  assert.deepEqual((await list('?page=9007199254740991&per_page=100')).data, [])
})

test('per_page is 1 to 100; above, it is 100, and meta shows it', async () => {
  assert.deepEqual((await list('?per_page=1')).meta, meta(1, 57, 1, 57))
  assert.deepEqual((await list('?per_page=57')).meta, meta(1, 1, 57, 57))
  assert.deepEqual((await list('?per_page=56&page=2')).data.length, 1)
  assert.deepEqual((await list('?per_page=100')).meta, meta(1, 1, 100, 57))
  for (const many of ['101', '1000000000', '9007199254740993', '9'.repeat(400)])
    assert.deepEqual((await list(`?per_page=${many}`)).meta, meta(1, 1, 100, 57))
})

test('0, negative numbers and non-integers are 422, for both parameters together', async () => {
  for (const wrong of [
    '0',
    '-1',
    '-0',
    'abc',
    '1.5',
    '1.0',
    '1e2',
    '0x1',
    '%201',
    '1%20',
    '',
    'true',
    'null',
    '1&page=2',
    '١',
    'NaN',
    'Infinity',
  ]) {
    const found = problems(await call('GET', `${path}?page=${wrong}`))
    assert.deepEqual(Object.keys(found), ['page'], wrong)
    assert.ok(['out_of_range', 'invalid_type'].includes(String(found.page)))
  }
  assert.deepEqual(problems(await call('GET', `${path}?page=0&per_page=x`)), {
    page: 'out_of_range',
    per_page: 'invalid_type',
  })
  assert.deepEqual(problems(await call('GET', `${path}?per_page=0`)), { per_page: 'out_of_range' })
})

test('a page far past any end is empty, with the true total', async () => {
  const { total } = (await list('?per_page=1')).meta
  for (const page of ['9007199254740992', '99999999999999999999', '9'.repeat(400)]) {
    const { status, body } = await call('GET', `${path}?page=${page}`)
    assert.equal(status, 200, page)
    assert.deepEqual([body.data, body.meta.total], [[], total])
  }
})

test('the total includes the write that was just acknowledged, whatever it was', async () => {
  const total = async () => (await list('?per_page=1')).meta.total
  const before = await total()
  const { id } = (await call('POST', path, { name: 'Acme' })).body.data
  assert.equal(await total(), before + 1)
  await call('PUT', `${path}/${id}`, { name: 'Other' })
  assert.equal(await total(), before + 1)
  await call('DELETE', `${path}/${id}`)
  assert.equal(await total(), before)
  await call('DELETE', `${path}/${id}`)
  assert.equal(await total(), before)
  await call('POST', `${path}/${id}/restore`)
  await call('POST', `${path}/${id}/restore`)
  assert.equal(await total(), before + 1)
  assert.equal((await list('?per_page=1')).data[0].id, id)
})

test('the total and all pages agree with a plain model after any operations, side by side too', async () => {
  const operation = fc.record({
    kind: fc.constantFrom('make', 'make', 'delete', 'restore', 'change', 'refused'),
    at: fc.nat(1000),
  })
  const { data } = await list('?per_page=100')
  const live = new Set<number>(data.map(({ id }: { id: number }) => id))
  const known = [...live]

  // Operations on different records at the same time: their outcome does not depend on their order.
  async function run(batch: { kind: string; at: number }[]) {
    const taken = new Set<number>()
    await Promise.all(
      batch.map(async ({ kind, at }) => {
        if (kind === 'refused') return void problems(await call('POST', path, { name: 5 }))
        const id = known[at % known.length] as number
        if (kind === 'make') {
          const made = (await call('POST', path, { name: 'Acme' })).body.data.id
          live.add(made)
          known.push(made)
        } else if (!taken.has(id)) {
          taken.add(id)
          const was = live.has(id)
          if (kind === 'delete') {
            assert.equal((await call('DELETE', `${path}/${id}`)).status, was ? 200 : 404)
            live.delete(id)
          } else if (kind === 'restore') {
            assert.equal((await call('POST', `${path}/${id}/restore`)).status, 200)
            live.add(id)
          } else
            assert.equal((await call('PUT', `${path}/${id}`, { phone: String(at) })).status, was ? 200 : 404)
        }
      }),
    )
  }

  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 40 }),
      async (batch, per_page) => {
        await run(batch)
        const expected = [...live].sort((a, b) => b - a)
        const last_page = Math.max(1, Math.ceil(expected.length / per_page))
        const seen: number[] = []
        for (let page = 1; page <= last_page; page++) {
          const answer = await list(`?page=${page}&per_page=${per_page}`)
          assert.deepEqual(answer.meta, meta(page, last_page, per_page, expected.length))
          seen.push(...answer.data.map(({ id }: { id: number }) => id))
        }
        assert.deepEqual(seen, expected)
      },
    ),
    { numRuns: runs(25), endOnFailure: true },
  )
})
