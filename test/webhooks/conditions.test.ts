import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace } from '../database.ts'
import { dataOf } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { useReceiver } from '../receiver.ts'
import { type Call, log, register, until, webhook } from '../webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()

const path = '/api/v1/webhooks'
const large = { field: 'data.value', op: 'gte', value: 10_000 }

const deal = async (call: Call, body: object) => dataOf(await call('POST', '/api/v1/deals', body), 201)
const eventsOf = async (call: Call, id: string) =>
  (await log(call, `webhook_id=${id}&per_page=100`)).map(({ event }) => event).reverse()

describe('conditions', () => {
  test('a webhook gets only the events that meet all its conditions, and others get all', async () => {
    const call = await newWorkspace(rapport)
    const some = await register(call, {
      url: receiver.url,
      events: ['deal.*'],
      conditions: [large, { field: 'data.name', op: 'contains', value: 'Re' }],
    })
    const all = await register(call, { url: receiver.url, events: ['deal.*'] })
    const { id } = await deal(call, { name: 'Relaunch', value: 10_000 })
    await deal(call, { name: 'Relaunch', value: 9999.99 })
    await deal(call, { name: 'Other', value: 20_000 })
    await deal(call, { name: 'Relaunch' })
    await call('PUT', `/api/v1/deals/${id}`, { value: 5 })
    assert.deepEqual(await eventsOf(call, some.id), ['deal.created'])
    assert.equal((await eventsOf(call, all.id)).length, 5)
    const shown = await webhook(call, some.id)
    assert.deepEqual(
      { ...shown, conditions: [large, { field: 'data.name', op: 'contains', value: 'Re' }] },
      shown,
    )
    await until(
      () => log(call, 'status=succeeded&per_page=100'),
      ({ length }) => length === 6,
    )
  })

  test('they judge changed fields, previous values, custom fields with dots, the actor and the source', async () => {
    const call = await newWorkspace(rapport)
    const hooks = await Promise.all(
      [
        [{ field: 'changed_fields', op: 'contains', value: 'priority' }],
        [{ field: 'previous.stage', op: 'eq', value: 'new_lead' }],
        [{ field: 'data.custom_fields.a.b', op: 'eq', value: 7 }],
        [{ field: 'actor.kind', op: 'ne', value: 'key' }],
        [{ field: 'source', op: 'in', value: ['api', 'import'] }],
      ].map((conditions) => register(call, { url: receiver.url, events: ['deal.updated'], conditions })),
    )
    const { id } = await deal(call, { name: 'Relaunch', custom_fields: { 'a.b': 7 } })
    await call('PUT', `/api/v1/deals/${id}`, { priority: 'high', custom_fields: { 'a.b': '7.0' } })
    await call('PUT', `/api/v1/deals/${id}`, { stage: 'demo', custom_fields: { 'a.b': null } })
    const counts = await Promise.all(hooks.map(async ({ id: hook }) => (await eventsOf(call, hook)).length))
    assert.deepEqual(counts, [1, 1, 1, 0, 2])
  })

  test('a batch and a change that is rolled back are judged as single changes are', async () => {
    const call = await newWorkspace(rapport)
    const { id } = await register(call, { url: receiver.url, events: ['*'], conditions: [large] })
    const items = [20_000, 5, 10_000, null].map((value) => ({ op: 'create', data: { name: 'Batch', value } }))
    assert.equal((await call('POST', '/api/v1/deals/batch', { items })).status, 200)
    const bad = [...items, { op: 'create', data: { name: '' } }]
    assert.equal((await call('POST', '/api/v1/deals/batch', { items: bad })).status, 422)
    assert.deepEqual(await eventsOf(call, id), ['deal.created', 'deal.created'])
  })

  test('a PUT replaces them from then on, and null or an empty list takes them away', async () => {
    const call = await newWorkspace(rapport)
    const { id } = await register(call, { url: receiver.url, events: ['deal.created'], conditions: [large] })
    const counts: number[] = []
    for (const conditions of [[large], [], [{ ...large, op: 'lt' }], null]) {
      assert.equal((await call('PUT', `${path}/${id}`, { conditions })).status, 200)
      await deal(call, { name: 'Relaunch', value: 5 })
      counts.push((await log(call)).length)
    }
    assert.deepEqual(counts, [0, 1, 2, 3])
    assert.deepEqual((await webhook(call, id)).conditions, [])
  })

  test('what no event of the webhook can have is 422, and the message says what is possible', async () => {
    const call = await newWorkspace(rapport)
    const { id } = await register(call, { url: receiver.url, events: ['deal.created'] })
    const at = (part: object, field: string) => [[{ ...large, ...part }], field] as const
    const wrong = [
      at({ field: 'data.valeu' }, 'conditions.0.field unknown_field'),
      at({ field: 'data.email' }, 'conditions.0.field unknown_field'),
      at({ field: 'value' }, 'conditions.0.field unknown_field'),
      at({ field: 'data' }, 'conditions.0.field unknown_field'),
      at({ field: 'data.value.x' }, 'conditions.0.field unknown_field'),
      at({ field: 'data.custom_fields.' }, 'conditions.0.field unknown_field'),
      at({ field: 'previous.email' }, 'conditions.0.field unknown_field'),
      at({ field: 'sequence' }, 'conditions.0.field unknown_field'),
      at({ field: 'data.__proto__.x' }, 'conditions.0.field unknown_field'),
      at({ field: '' }, 'conditions.0.field required'),
      at({ field: 5 }, 'conditions.0.field invalid_type'),
      at({ op: '>=' }, 'conditions.0.op unknown_value'),
      at({ value: 'a lot' }, 'conditions.0.value invalid_value'),
      at({ value: null }, 'conditions.0.value invalid_value'),
      at({ value: undefined }, 'conditions.0.value required'),
      at({ op: 'eq', value: [1] }, 'conditions.0.value invalid_value'),
      at({ op: 'eq', value: {} }, 'conditions.0.value invalid_value'),
      at({ op: 'in', value: 5 }, 'conditions.0.value invalid_value'),
      at({ op: 'in', value: [] }, 'conditions.0.value invalid_value'),
      at({ op: 'in', value: [null] }, 'conditions.0.value invalid_value'),
      at({ op: 'in', value: Array(101).fill(1) }, 'conditions.0.value invalid_value'),
      at({ op: 'contains', value: null }, 'conditions.0.value invalid_value'),
      at({ op: 'exists', value: 'yes' }, 'conditions.0.value invalid_value'),
      at({ op: 'eq', value: 'x'.repeat(1025) }, 'conditions.0.value invalid_value'),
      at({ extra: 1 }, 'conditions.0.extra unknown_field'),
      [Array(21).fill(large), 'conditions too_many'],
      [Array(20).fill({ ...large, op: 'eq', value: 'x'.repeat(1000) }), 'conditions too_long'],
      [[null], 'conditions.0 invalid_type'],
      ['data.value > 5', 'conditions invalid_type'],
    ] as const
    for (const [conditions, expected] of wrong)
      for (const [method, address] of [
        ['POST', path],
        ['PUT', `${path}/${id}`],
      ] as const) {
        const body = { url: receiver.url, events: ['deal.created'], conditions }
        const reply = await call(method, address, body)
        assert.equal(reply.status, 422, `${method} ${JSON.stringify(conditions).slice(0, 200)}`)
        const [first] = reply.body.error.fields
        assert.equal(`${first.field} ${first.code}`, expected)
      }
    const reply = await call('PUT', `${path}/${id}`, { conditions: [{ ...large, field: 'data.valeu' }] })
    const { message } = reply.body.error.fields[0]
    assert.match(message, /Did you mean "data.value"\?/)
    assert.match(message, /Possible: .*changed_fields.*data\.stage.*data\.custom_fields\.KEY/)
  })

  test('a new list of events must still have the fields of the conditions', async () => {
    const call = await newWorkspace(rapport)
    const { id } = await register(call, {
      url: receiver.url,
      events: ['deal.won', 'contact.created'],
      conditions: [large],
    })
    const reply = await call('PUT', `${path}/${id}`, { events: ['contact.created'] })
    assert.equal(reply.status, 422)
    assert.equal(reply.body.error.fields[0].field, 'conditions.0.field')
    assert.equal((await call('PUT', `${path}/${id}`, { events: ['contact.*'], conditions: [] })).status, 200)
  })
})
