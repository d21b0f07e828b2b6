import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { client, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'
import { useReceiver } from '../../../test/receiver.ts'
import { act, type Call, register, total, until } from '../../../test/webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()
let call: Call

type Told = { webhook_id: string; verdict: string; condition: object | null; seen: unknown }
const explain = async (event_id: string): Promise<Told[]> =>
  dataOf(await call('GET', `/api/v1/events/${event_id}/explain`), 200)
const newestEvent = async () =>
  (await call('GET', '/api/v1/events?sort=-timestamp&per_page=1')).body.data[0].id as string

/** A repeatable source of chance. */
function chance(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

test('each webhook is explained as it was judged, over a random history of webhooks and events', async () => {
  call = await newWorkspace(rapport)
  receiver.answering = ({ path }) => ({ status: path.endsWith('bad') ? 500 : 200 })
  const pick = chance(20_261_123)
  const one = <T>(of: readonly T[]): T => of[pick(of.length)] as T
  const asks = [
    { events: ['company.created'] },
    { events: ['company.*'] },
    { events: ['*'] },
    { events: ['deal.won'] },
    { events: ['*'], conditions: [{ field: 'data.industry', op: 'eq', value: 'Retail' }] },
    { events: ['company.*'], conditions: [{ field: 'changed_fields', op: 'contains', value: 'phone' }] },
  ] as const
  type Hook = { id: string; is_bad: boolean; ask: (typeof asks)[number]; is_paused: boolean }
  let hooks: Hook[] = []
  const expected = new Map<string, Map<string, string>>()
  const companies: number[] = []

  /** The explanation of a webhook, by a model that knows only these webhooks and events. */
  function judge({ ask, is_bad }: Hook, event: string, company: Record<string, unknown>, changed: string[]) {
    const meets = ask.events.some((wanted) => ['*', event, 'company.*'].includes(wanted))
    if (!meets) return 'not_subscribed'
    const [condition] = 'conditions' in ask ? ask.conditions : []
    if (condition?.op === 'eq' && company.industry !== condition.value) return 'condition_false'
    if (condition?.op === 'contains' && !changed.includes('phone')) return 'condition_false'
    return is_bad ? 'failed' : 'delivered'
  }

  async function happen() {
    const industry = one(['Retail', 'Steel', null])
    const id = companies.length && pick(2) ? one(companies) : null
    const body =
      id === null ? { name: 'Okafor & Sons', industry } : one([{ phone: `+1 ${pick(1e6)}` }, { industry }])
    const before = id === null ? {} : (await call('GET', `/api/v1/companies/${id}`)).body.data
    const { data } =
      id === null
        ? (await call('POST', '/api/v1/companies', body)).body
        : (await call('PUT', `/api/v1/companies/${id}`, body)).body
    if (id === null) companies.push(data.id)
    const changed = id === null ? [] : Object.keys(body).filter((name) => before[name] !== data[name])
    if (id !== null && !changed.length) return
    const event = id === null ? 'company.created' : 'company.updated'
    const verdicts = hooks.map((hook) => [hook.id, judge(hook, event, data, changed)] as const)
    expected.set(await newestEvent(), new Map(verdicts))
  }

  for (let n = 0; n < 120; n++) {
    const hook = hooks[pick(hooks.length || 1)]
    const what = pick(10)
    if (what === 0 && hooks.length < 6) {
      const [ask, is_bad] = [one(asks), pick(3) === 0]
      const { id } = await register(call, {
        url: `${receiver.url}${is_bad ? '/bad' : ''}`,
        retry_delays: [],
        ...ask,
      })
      hooks.push({ id, is_bad, ask, is_paused: false })
    } else if (what === 1 && hook) {
      hook.ask = one(asks)
      const { status, text } = await call('PUT', `/api/v1/webhooks/${hook.id}`, {
        conditions: null,
        ...hook.ask,
      })
      assert.equal(status, 200, text)
    } else if (what === 2 && hook && pick(3) === 0) {
      await call('DELETE', `/api/v1/webhooks/${hook.id}`)
      hooks = hooks.filter((other) => other !== hook)
    } else await happen()
  }
  await until(() => total(call, 'status=pending'), 0)
  const ids = new Set(hooks.map(({ id }) => id))
  const seen = new Set<string>()
  for (const [event_id, verdicts] of expected) {
    const told = await explain(event_id)
    assert.deepEqual(new Set(told.map(({ webhook_id }) => webhook_id)), ids)
    for (const { webhook_id, verdict, condition } of told) {
      assert.equal(verdict, verdicts.get(webhook_id) ?? 'created_later', event_id)
      assert.equal(condition !== null, verdict === 'condition_false')
      seen.add(verdict)
    }
  }
  assert.deepEqual([...seen].sort(), [
    'condition_false',
    'created_later',
    'delivered',
    'failed',
    'not_subscribed',
  ])
})

test('tells the condition and the value that it saw, and that a delivery waits for its paused webhook', async () => {
  call = await newWorkspace(rapport)
  receiver.answering = () => ({})
  const condition = { field: 'data.value', op: 'gte', value: 10_000 }
  const strict = await register(call, { url: receiver.url, events: ['deal.*'], conditions: [condition] })
  const paused = await register(call, { url: receiver.url, events: ['deal.created'] })
  await act(call, paused.id, 'pause')
  await call('POST', '/api/v1/deals', { name: 'Signs', value: 1250.5 })
  const event_id = await newestEvent()
  assert.deepEqual(await explain(event_id), [
    { webhook_id: strict.id, verdict: 'condition_false', condition, seen: 1250.5 },
    { webhook_id: paused.id, verdict: 'paused', condition: null, seen: null },
  ])
  await act(call, paused.id, 'resume')
  await until(
    () => explain(event_id),
    ([, told]) => told?.verdict === 'delivered',
  )
})

test('of a test or a backfill tells only of its webhook; an unknown event, and one that may not be read, is 404', async () => {
  call = await newWorkspace(rapport)
  const first = await register(call, { url: receiver.url, events: ['*'] })
  await register(call, { url: receiver.url, events: ['*'] })
  for (const body of [{}, { event: 'deal.won' }]) {
    const { event_id } = await act(call, first.id, 'test', body)
    const told = await explain(event_id)
    assert.deepEqual(
      told.map(({ webhook_id, verdict }) => [webhook_id, verdict]),
      [[first.id, 'delivered']],
    )
  }
  await call('POST', '/api/v1/deals', { name: 'Signs' })
  const event_id = await newestEvent()
  const scopes = ['webhooks:read', 'companies:read']
  const { body: made } = await call('POST', '/api/v1/keys', { name: 'Limited', scopes })
  const limited = client(rapport.url, made.data.token)
  for (const [by, id] of [
    [limited, event_id],
    [call, 'evt_unknown'],
    [await newWorkspace(rapport), event_id],
  ] as const)
    assert.equal((await by('GET', `/api/v1/events/${id}/explain`)).status, 404)
})

test('the events of a change are found by its record and its time, those of other records and workspaces are not', async () => {
  call = await newWorkspace(rapport)
  const other = await newWorkspace(rapport)
  const { data: deal } = (await call('POST', '/api/v1/deals', { name: 'Awning' })).body
  await Promise.all([1, 2, 3].map((n) => call('POST', '/api/v1/deals', { name: `Beside ${n}` })))
  await call('POST', `/api/v1/deals/${deal.id}/change-stage`, { stage: 'won' })
  const workspace_id = (await call('GET', '/api/v1/workspace')).body.data.id
  const { data: entries } = (await call('GET', `/api/v1/deals/${deal.id}/timeline`)).body
  const find = async (by: Call, at: string, kind = 'deals') => {
    const reply = await by('GET', `/api/v1/events/of-change?kind=${kind}&id=${deal.id}&at=${at}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data as { id: string; event: string; timestamp: string }[]
  }
  const moved = entries.find(({ type }: { type: string }) => type === 'stage_change')
  const found = await find(call, moved.at)
  assert.deepEqual(
    found.map(({ event }) => event),
    ['deal.stage_changed', 'deal.won'],
  )
  for (const { id } of found) assert.deepEqual(await explain(id), [])
  const created = await find(call, deal.created_at)
  assert.deepEqual(
    created.map(({ event, timestamp }) => [event, timestamp]),
    [['deal.created', deal.created_at]],
  )
  assert.deepEqual(await find(other, moved.at), [])
  assert.deepEqual(await find(call, moved.at, 'contacts'), [])
  assert.deepEqual(await find(call, '2026-01-01T00:00:00.000Z'), [])
  for (const [query, status] of [
    ['kind=notes&id=1&at=2026-01-01T00:00:00.000Z', 422],
    ['kind=deals&id=1&at=yesterday', 422],
    ['kind=deals&at=2026-01-01T00:00:00.000Z', 422],
  ] as const)
    assert.equal((await call('GET', `/api/v1/events/of-change?${query}`)).status, status, query)
  const { call: narrow } = await makeKey(rapport, { scopes: ['webhooks:read'], workspace_id })
  assert.deepEqual(await find(narrow, moved.at), [])
  const { call: own } = await makeKey(rapport, { scopes: ['webhooks:read', 'deals:read'], workspace_id })
  assert.equal((await find(own, moved.at)).length, 2)
})
