// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf, refused } from '../../../test/envelope.ts'
import { useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'

const rapport = useRapport()
const call = (method: string, path: string, body?: object) => rapport.call(method, `/api/v1${path}`, body)
const list = async (query: string) => dataOf(await call('GET', `/deals?${query}`), 200)
const idsOf = async (query: string) => {
  const { status, body } = await call('GET', `/deals?${query}&sort=id`)
  assert.equal(status, 200, JSON.stringify(body))
  const ids: number[] = body.data.map(({ id }: { id: number }) => id)
  assert.equal(body.meta.total, ids.length)
  return ids
}
const create = async (path: string, body: object) => dataOf(await call('POST', path, body), 201)
const activity = (deal_id: number | null, subject: string, due_at: string | null) =>
  create('/activities', { subject, type: 'call', deal_id, due_at })
const deal = (name: string): Promise<{ id: number }> => create('/deals', { name })

test('the next activity of a deal is its open activity that is due first, in every state of the others', async () => {
  const { id } = await deal('Relaunch of the website of Müller & Söhne Maschinenbau GmbH')
  const other = await deal('Another')
  const next = async () => (await list('progress=true&sort=id')).find((one: { id: number }) => one.id === id)
  assert.equal((await next()).next_activity, null)

  const some_day = await activity(id, 'Some day', null)
  await activity(other.id, 'Of another deal', '2020-01-01T00:00:00.000Z')
  await activity(null, 'Of no deal', '2020-01-01T00:00:00.000Z')
  assert.equal((await next()).next_activity.id, some_day.id)
  const late = await activity(id, 'Late', '2026-12-03T09:00:00.000Z')
  assert.equal((await next()).next_activity.id, late.id)
  const early = await activity(id, 'Early', '2026-12-01T09:00:00.000Z')
  assert.deepEqual((await next()).next_activity, {
    id: early.id,
    type: 'call',
    subject: 'Early',
    due_at: '2026-12-01T09:00:00.000Z',
  })

  await call('POST', `/activities/${early.id}/complete`, {})
  assert.equal((await next()).next_activity.id, late.id)
  await call('POST', `/activities/${early.id}/reopen`, {})
  assert.equal((await next()).next_activity.id, early.id)
  await call('DELETE', `/activities/${early.id}`)
  assert.equal((await next()).next_activity.id, late.id)
  await call('PUT', `/activities/${late.id}`, { deal_id: other.id })
  assert.equal((await next()).next_activity.id, some_day.id)
})

test('deals without an open activity are found, and deals with one, also with other filters and as an export', async () => {
  const [planned, finished, bare] = [await deal('Planned'), await deal('Finished'), await deal('Bare')]
  await activity(planned.id, 'Call', '2026-12-01T09:00:00.000Z')
  const done = await activity(finished.id, 'Call', '2026-12-01T09:00:00.000Z')
  await call('POST', `/activities/${done.id}/complete`, { outcome: 'Wants an offer' })
  await call('POST', `/deals/${bare.id}/change-stage`, { stage: 'won' })

  const these = [planned.id, finished.id, bare.id]
  const own = (ids: number[]) => ids.filter((id) => these.includes(id))
  assert.deepEqual(own(await idsOf('next_activity=null')), [finished.id, bare.id])
  assert.deepEqual(own(await idsOf('next_activity=!null')), [planned.id])
  assert.deepEqual(own(await idsOf('next_activity=null&status=open')), [finished.id])
  const exported = await call('GET', '/deals/export?next_activity=null&status=open&format=ndjson')
  assert.match(exported.text, /Finished/)
  assert.doesNotMatch(exported.text, /Planned|Bare/)
  const refused = await call('GET', '/deals?next_activity=5')
  assert.equal(refused.status, 422)
})

test('stage_since is the time of the last change of the stage, not of other changes, and is a range', async () => {
  const { id } = await deal('Stands still')
  const sinceOf = async () =>
    (await list('progress=true')).find((one: { id: number }) => one.id === id).stage_since
  const history = async () => (await call('GET', `/deals/${id}/stages`)).body.data.at(-1).entered_at
  const created = await sinceOf()
  assert.equal(created, await history())
  await call('POST', `/deals/${id}/change-stage`, { stage: 'demo' })
  const moved = await sinceOf()
  assert.equal(moved, await history())
  await call('PUT', `/deals/${id}`, { name: 'Stands still, with a new name' })
  assert.equal(await sinceOf(), moved)

  const has = async (query: string) => (await idsOf(query)).includes(id)
  const before = new Date(Date.parse(moved) - 1).toISOString()
  const after = new Date(Date.parse(moved) + 1).toISOString()
  assert.ok(await has(`stage_since_to=${moved}`))
  assert.ok(await has(`stage_since_from=${moved}`))
  assert.ok(!(await has(`stage_since_to=${before}`)))
  assert.ok(!(await has(`stage_since_from=${after}`)))
  assert.ok(await has(`stage_since_from=${moved.slice(0, 10)}&stage_since_to=${moved.slice(0, 10)}`))
  assert.ok(!(await has('stage_since_to=2020-01-01')))
  assert.equal((await call('GET', '/deals?stage_since_to=yesterday')).status, 422)
})

test('details=true and the plain list have no progress, and a deal and its events keep their keys', async () => {
  const { id } = await deal('Keys')
  for (const query of ['', 'details=true', 'details=false'])
    for (const one of await list(query)) {
      assert.ok(!('stage_since' in one))
      assert.ok(!('next_activity' in one))
    }
  assert.ok(!('stage_since' in (await call('GET', `/deals/${id}`)).body.data))
})

test('a key that may not read activities gets no next activity and no filter by it', async () => {
  await activity((await deal('Signs for the shop')).id, 'Not for every key', '2026-12-01T09:00:00Z')
  const { call } = await makeKey(rapport, { scopes: ['deals:read'] })
  for (const path of [
    '?progress=true',
    '?next_activity=null',
    '/export?next_activity=!null&format=ndjson',
    '/groups?by=stage&next_activity=!null',
  ]) {
    const reply = await call('GET', `/api/v1/deals${path}`)
    assert.match(refused(reply, 403, 'forbidden').message, /activities:read/, path)
  }
  assert.equal((await call('GET', '/api/v1/deals?progress=false')).status, 200)
  const both = await makeKey(rapport, { scopes: ['deals:read', 'activities:read'] })
  assert.match((await both.call('GET', '/api/v1/deals?progress=true')).text, /Not for every key/)
})
