import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../../../test/harness.ts'

const rapport = useRapport()
const call = (method: string, path: string, body?: object) => rapport.call(method, `/api/v1${path}`, body)
const list = async (query: string) => (await call('GET', `/deals?${query}`)).body

test('with details=true a list shows each deal as GET shows it; without, exactly the list view', async () => {
  const company_id = (await call('POST', '/companies', { name: 'Acme' })).body.data.id
  const person = { first_name: 'Ada', last_name: 'Lovelace' }
  const contact_id = (await call('POST', '/contacts', person)).body.data.id
  const gone = (await call('POST', '/contacts', person)).body.data.id
  for (const more of [{ contact_id, company_id, value: 0.1 }, { contact_id: gone }, {}])
    assert.equal((await call('POST', '/deals', { name: 'Deal', ...more })).status, 201)
  await call('POST', '/deals/1/change-stage', { stage: 'lost', lost_reason: 'Price' })
  await call('DELETE', `/contacts/${gone}`)

  const { data, meta } = await list('details=true&sort=id')
  assert.equal(meta.total, 3)
  for (const deal of data) assert.deepEqual(deal, (await call('GET', `/deals/${deal.id}`)).body.data)
  const parts = await list('details=true&per_page=2&cursor=start')
  assert.deepEqual(parts.data, data.toReversed().slice(0, 2))
  const fields = 'id name value probability stage contact_id company_id expected_close_date status owner_id'
  for (const query of ['', 'details=false'])
    for (const deal of (await list(query)).data)
      assert.deepEqual(Object.keys(deal).sort(), fields.split(' ').sort())
  assert.equal((await call('GET', '/deals?details=yes')).status, 422)
})

test('deals are found by the days on which they are expected to close, both included', async () => {
  const dates = ['2027-01-31', '2027-02-01', '2027-02-28', '2027-03-01']
  for (const expected_close_date of dates)
    assert.equal(
      (await call('POST', '/deals', { name: expected_close_date, expected_close_date })).status,
      201,
    )
  const days = async (query: string) => {
    const { data, meta } = await list(`${query}&sort=expected_close_date`)
    assert.equal(meta.total, data.length)
    return data.map((deal: { expected_close_date: string }) => deal.expected_close_date)
  }
  assert.deepEqual(
    await days('expected_close_from=2027-02-01&expected_close_to=2027-02-28'),
    dates.slice(1, 3),
  )
  // Deals without a date are on no day.
  assert.deepEqual(await days('expected_close_from=2027-02-28'), dates.slice(2))
  assert.deepEqual(await days('expected_close_to=2027-02-01'), dates.slice(0, 2))
  assert.deepEqual(await days('expected_close_from=2027-03-02'), [])
  assert.equal((await call('GET', '/deals?expected_close_from=2027-02-30')).status, 422)
})
