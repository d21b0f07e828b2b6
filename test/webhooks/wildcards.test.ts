import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../database.ts'
import { type Rapport, useRapport } from '../harness.ts'
import { makeKey } from '../keys.ts'
import { useReceiver } from '../receiver.ts'
import { company, log, register, until, webhook } from '../webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()

const path = '/api/v1/webhooks'
const eventsOf = async (call: Rapport['call'], id: string) =>
  (await log(call, `webhook_id=${id}&per_page=100`)).map(({ event }) => event).reverse()

test('* gets every event and deal.* those of deals, each once, and both are shown as they were sent', async () => {
  const call = await newWorkspace(rapport)
  const other = await newWorkspace(rapport)
  const all = await register(call, { url: receiver.url, events: ['*', 'deal.*', 'deal.created'] })
  const deals = await register(call, { url: receiver.url, events: ['deal.*'] })
  assert.deepEqual(all.events, ['*', 'deal.*', 'deal.created'])
  assert.deepEqual((await webhook(call, deals.id)).events, ['deal.*'])
  await company(call)
  await company(other)
  const { id } = (await call('POST', '/api/v1/deals', { name: 'Relaunch' })).body.data
  await call('POST', `/api/v1/deals/${id}/change-stage`, { stage: 'won' })
  await until(
    () => log(call, 'status=succeeded&per_page=100'),
    ({ length }) => length === 7,
  )
  const of_deals = ['deal.created', 'deal.stage_changed', 'deal.won']
  assert.deepEqual((await eventsOf(call, deals.id)).sort(), of_deals)
  assert.deepEqual((await eventsOf(call, all.id)).sort(), ['company.created', ...of_deals])
  assert.deepEqual(await log(other), [])
})

test('a batch of several kinds of events reaches a wildcard once for each event', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await register(call, { url: receiver.url, events: ['*'] })
  const items = [1, 2, 3].map((n) => ({ op: 'create', data: { name: `Acme ${n}` } }))
  await call('POST', '/api/v1/companies/batch', { items })
  const again = [1, 2, 3].map((n) => ({
    op: 'upsert',
    match: 'name',
    data: { name: `Acme ${n}`, phone: `${n}` },
  }))
  await call('POST', '/api/v1/companies/batch', { items: again })
  assert.deepEqual((await eventsOf(call, id)).sort(), [
    ...Array(3).fill('company.created'),
    ...Array(3).fill('company.updated'),
  ])
})

test('a list that widens and narrows again counts from each change on', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await register(call, { url: receiver.url, events: ['company.created', 'deal.won'] })
  const change = (events: string[]) => call('PUT', `${path}/${id}`, { events })
  const counts: number[] = []
  for (const events of [['*'], ['company.*'], ['deal.*'], ['contact.*', 'company.created'], ['contact.*']]) {
    assert.equal((await change(events)).status, 200)
    await company(call)
    counts.push((await log(call)).length)
  }
  assert.deepEqual(counts, [1, 2, 2, 3, 3])
})

test('deal.* needs deals:read, and * every scope, those of later versions too', async () => {
  const { call } = await makeKey(rapport, { scopes: ['webhooks:write', 'deals:read'] })
  const create = (events: string[]) => call('POST', path, { url: receiver.url, events })
  assert.equal((await create(['deal.*'])).status, 201)
  const companies = await create(['deal.*', 'company.*'])
  assert.deepEqual([companies.status, /company\.\* needs companies:read/.test(companies.text)], [403, true])
  const all = await create(['*'])
  assert.deepEqual([all.status, /\* needs every scope/.test(all.text)], [403, true])
})
