import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useStored } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { catalogue } from '../../app.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)

const path = '/api/v1/deals'
const ok = async (method: string, url: string, body?: object) => dataOf(await rapport.call(method, url, body))
const deal = (body: object = {}) => ok('POST', path, { name: 'Relaunch', value: 12500.5, ...body })
const put = (id: number, body: object) => ok('PUT', `${path}/${id}`, body)
const changeStage = (id: number, body: object) => ok('POST', `${path}/${id}/change-stage`, body)
const names = async (id: number) => (await stored.events('deal', id)).map(({ event }) => event)

/** Runs a write and returns the events that it alone added, in their order. */
async function added<T>(id: number, write: () => Promise<T>) {
  const count = (await stored.events('deal', id)).length
  clock.advance(1000)
  const result = await write()
  return { result, events: (await stored.events('deal', id)).slice(count) }
}

test('the catalogue names the six deal events in the order of the interface', () => {
  assert.deepEqual(
    catalogue.map(({ name }) => name).filter((name) => name.startsWith('deal.')),
    ['deal.created', 'deal.updated', 'deal.stage_changed', 'deal.won', 'deal.lost', 'deal.deleted'],
  )
})

describe('POST', () => {
  test('it is deal.created with the detail view, and nothing more in an open stage', async () => {
    const fresh = await deal({ stage: 'demo' })
    const [event, ...others] = await stored.events('deal', fresh.id)
    assert.deepEqual(others, [])
    assert.deepEqual(Object.keys(event ?? {}), ['id', 'event', 'timestamp', 'data'])
    assert.equal(event?.timestamp, fresh.created_at)
    assert.deepEqual(event?.data, fresh)
  })

  test('created in won or lost it is also deal.won or deal.lost, and never a stage change', async () => {
    assert.deepEqual(await names((await deal({ stage: 'won' })).id), ['deal.created', 'deal.won'])
    assert.deepEqual(await names((await deal({ stage: 'lost' })).id), ['deal.created', 'deal.lost'])
  })

  test('a refused body writes no event and no record', async () => {
    const count = () =>
      stored.rows('SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM deals) AS n')
    const before = await count()
    assert.equal((await rapport.call('POST', path, { name: 'X', stage: 'sold' })).status, 422)
    assert.equal((await rapport.call('POST', path, { name: 'X', company_id: 999_999 })).status, 422)
    assert.deepEqual(await count(), before)
  })
})

describe('change-stage', () => {
  test('a new stage is deal.stage_changed alone, with exactly its five keys', async () => {
    const { id } = await deal()
    const { events } = await added(id, () => changeStage(id, { stage: 'demo', probability: 5 }))
    assert.deepEqual(
      events.map(({ event, data, changed_fields }) => ({ event, data, changed_fields })),
      [
        {
          event: 'deal.stage_changed',
          data: { id, name: 'Relaunch', previous_stage: 'new_lead', new_stage: 'demo', value: 12500.5 },
          changed_fields: undefined,
        },
      ],
    )
  })

  test('entering won adds deal.won with exactly its seven keys, null where the deal has no value', async () => {
    const contact = await ok('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: 'Okafor' })
    const { id } = await deal({ value: null, contact_id: contact.id })
    const { result, events } = await added(id, () => changeStage(id, { stage: 'won' }))
    assert.deepEqual(
      events.map(({ event }) => event),
      ['deal.stage_changed', 'deal.won'],
    )
    assert.deepEqual(events[1]?.data, {
      id,
      name: 'Relaunch',
      value: null,
      contact_id: contact.id,
      company_id: null,
      stage: 'won',
      closed_at: result.closed_at,
    })
    assert.equal(events[1]?.timestamp, result.closed_at)
  })

  test('entering lost adds deal.lost with the detail view, from won too, and reopening adds nothing', async () => {
    const { id } = await deal({ stage: 'won' })
    const lost = await added(id, () => changeStage(id, { stage: 'lost', lost_reason: 'Cancelled' }))
    assert.deepEqual(
      lost.events.map(({ event }) => event),
      ['deal.stage_changed', 'deal.lost'],
    )
    assert.deepEqual(lost.events[1]?.data, lost.result)
    const reopened = await added(id, () => changeStage(id, { stage: 'proposal' }))
    assert.deepEqual(
      reopened.events.map(({ event }) => event),
      ['deal.stage_changed'],
    )
  })

  test('the same stage with a new probability, or with a new reason when lost, is deal.updated', async () => {
    const { id } = await deal({ stage: 'lost' })
    const odds = await added(id, () => changeStage(id, { stage: 'lost', probability: 5 }))
    assert.deepEqual(
      odds.events.map(({ event, changed_fields, previous }) => ({ event, changed_fields, previous })),
      [{ event: 'deal.updated', changed_fields: ['probability'], previous: { probability: 0 } }],
    )
    assert.deepEqual(odds.events[0]?.data, odds.result)
    const reason = await added(id, () => changeStage(id, { stage: 'lost', lost_reason: 'Price' }))
    assert.deepEqual(reason.events[0]?.changed_fields, ['lost_reason'])
    assert.deepEqual(reason.events[0]?.previous, { lost_reason: null })
    assert.equal(reason.events.length, 1)
  })

  test('the same stage with nothing new is no event', async () => {
    const { id } = await deal({ stage: 'won', probability: 95 })
    const same = [{ stage: 'won' }, { stage: 'won', probability: 95 }, { stage: 'won', lost_reason: null }]
    for (const body of same) assert.deepEqual((await added(id, () => changeStage(id, body))).events, [])
  })
})

describe('PUT', () => {
  test('it is deal.updated with the detail view, the changed fields and their old values', async () => {
    const { id } = await deal({ priority: 'low' })
    const body = { name: 'Renamed', value: 7, priority: 'low', expected_close_date: '2027-01-31' }
    const { result, events } = await added(id, () => put(id, body))
    assert.equal(events.length, 1)
    assert.equal(events[0]?.event, 'deal.updated')
    assert.deepEqual(events[0]?.data, result)
    assert.deepEqual(events[0]?.changed_fields, ['name', 'value', 'expected_close_date'])
    assert.deepEqual(events[0]?.previous, { name: 'Relaunch', value: 12500.5, expected_close_date: null })
  })

  test('a new stage is deal.updated, then deal.stage_changed, then deal.won or deal.lost', async () => {
    const { id } = await deal({ value: null })
    const won = await added(id, () => put(id, { stage: 'won', value: 7 }))
    assert.deepEqual(
      won.events.map(({ event }) => event),
      ['deal.updated', 'deal.stage_changed', 'deal.won'],
    )
    assert.deepEqual(won.events[0]?.changed_fields, ['value', 'probability', 'stage', 'status', 'closed_at'])
    assert.equal(won.events[1]?.data.value, 7)
    const lost = await added(id, () => put(id, { stage: 'lost', lost_reason: 'Price' }))
    assert.deepEqual(
      lost.events.map(({ event }) => event),
      ['deal.updated', 'deal.stage_changed', 'deal.lost'],
    )
    const moved = ['probability', 'stage', 'status', 'lost_reason', 'closed_at']
    assert.deepEqual(lost.events[0]?.changed_fields, moved)
    const { probability, stage, status, lost_reason, closed_at } = won.result
    assert.deepEqual(lost.events[0]?.previous, { probability, stage, status, lost_reason, closed_at })
    const demo = await added(id, () => put(id, { stage: 'demo' }))
    assert.deepEqual(
      demo.events.map(({ event }) => event),
      ['deal.updated', 'deal.stage_changed'],
    )
    const open = await added(id, () => put(id, { stage: 'negotiation', probability: 15 }))
    assert.deepEqual(open.events[0]?.changed_fields, ['probability', 'stage'])
  })

  test('a new reference is named by its id, not by the embedded object', async () => {
    const company = await ok('POST', '/api/v1/companies', { name: 'Acme' })
    const { id } = await deal()
    const { result, events } = await added(id, () => put(id, { company_id: company.id }))
    assert.deepEqual(events[0]?.changed_fields, ['company_id'])
    assert.deepEqual(events[0]?.previous, { company_id: null })
    assert.deepEqual(events[0]?.data.company, { id: company.id, name: 'Acme' })
    assert.deepEqual(result.company, { id: company.id, name: 'Acme' })
  })
})

test('DELETE is deal.deleted with the last detail view, restoring is deal.updated of deleted_at', async () => {
  const fresh = await deal({ stage: 'won' })
  const { id } = fresh
  const gone = await added(id, () => ok('DELETE', `${path}/${id}`))
  const deleted_at = new Date(clock.now()).toISOString()
  assert.deepEqual(
    gone.events.map(({ event, data }) => ({ event, data })),
    [{ event: 'deal.deleted', data: fresh }],
  )
  const back = await added(id, () => ok('POST', `${path}/${id}/restore`))
  assert.deepEqual(
    back.events.map(({ event, data, changed_fields, previous }) => ({
      event,
      data,
      changed_fields,
      previous,
    })),
    [{ event: 'deal.updated', data: back.result, changed_fields: ['deleted_at'], previous: { deleted_at } }],
  )
  assert.deepEqual((await added(id, () => ok('POST', `${path}/${id}/restore`))).events, [])
})
