// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useStored } from '../../../test/database.ts'
import { dealCalls } from '../../../test/deals.ts'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { hashToken } from '../../db/token-hash.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)

const { path, call, deal, contact, company, read, changed, put, changeStage, refused } = dealCalls(rapport)

describe('PUT', () => {
  test('what GET showed can be edited and put back without touching anything else', async () => {
    const { id: contact_id } = await contact()
    for (const start of [
      { value: 0.1 },
      { stage: 'won' },
      { stage: 'lost' },
      { probability: 20, stage: 'demo' },
      { contact_id },
    ]) {
      const shown = await deal(start)
      clock.advance(1000)
      const renamed = await put(shown.id, { ...shown, name: 'Renamed' })
      assert.deepEqual({ ...renamed, name: shown.name, updated_at: shown.updated_at }, shown)
      assert.equal(renamed.updated_at, new Date(clock.now()).toISOString())
      const moved = await put(shown.id, { ...renamed, stage: 'proposal' })
      assert.equal(moved.probability, 'probability' in start ? 20 : 60)
    }
  })

  test('a PUT that changes nothing keeps updated_at and the ETag and writes no event', async () => {
    const shown = await deal({ value: 5, stage: 'lost' })
    const etag = (await call('GET', `${path}/${shown.id}`)).headers.get('etag')
    clock.advance(1000)
    for (const body of [
      {},
      shown,
      { name: ' Relaunch ' },
      { stage: 'lost' },
      { lost_reason: null },
      { value: 5.0 },
    ]) {
      const reply = await call('PUT', `${path}/${shown.id}`, body)
      assert.deepEqual(reply.body.data, shown)
      assert.equal(reply.headers.get('etag'), etag)
    }
    const free = await deal({ value: 0 })
    clock.advance(1000)
    assert.deepEqual(
      (await call('PUT', `${path}/${free.id}`, '{"value":-0,"probability":10}')).body.data,
      free,
    )
    const events = await stored.events('deal', shown.id)
    assert.ok(events.every(({ event }) => event !== 'deal.updated'))
  })

  test('PATCH does what PUT does', async () => {
    const { id } = await deal()
    assert.equal((await changed('PATCH', `${path}/${id}`, { stage: 'demo' })).probability, 40)
  })

  test('two concurrent PUTs of different fields keep both', async () => {
    const { id } = await deal()
    await Promise.all([put(id, { priority: 'high' }), put(id, { source: 'web' }), put(id, { value: 7 })])
    const { priority, source, value } = await read(id)
    assert.deepEqual({ priority, source, value }, { priority: 'high', source: 'web', value: 7 })
  })

  test('a new stage follows the rules of change-stage', async () => {
    const { id } = await deal({ probability: 33 })
    await refused('PUT', `${path}/${id}`, { stage: 'lost' }, ['lost_reason required'])
    await refused('PUT', `${path}/${id}`, { lost_reason: 'Price' }, ['lost_reason not_allowed'])
    const lost = await put(id, { stage: 'lost', lost_reason: ' Price ' })
    assert.deepEqual([lost.status, lost.probability, lost.lost_reason], ['lost', 0, 'Price'])
    await refused('PUT', `${path}/${id}`, { lost_reason: '' }, ['lost_reason required'])
    assert.equal((await put(id, { lost_reason: 'Timing' })).lost_reason, 'Timing')
    const reopened = await put(id, { ...lost, stage: 'demo', lost_reason: 'Timing' })
    assert.deepEqual(
      [reopened.status, reopened.probability, reopened.lost_reason, reopened.closed_at],
      ['open', 33, null, null],
    )
  })
})

describe('change-stage', () => {
  test('it answers 200 with the detail view, and status, probability and closing time follow', async () => {
    const fresh = await deal({ value: 5 })
    clock.advance(1000)
    const now = new Date(clock.now()).toISOString()
    const won = await changeStage(fresh.id, { stage: 'won', lost_reason: null })
    assert.deepEqual(won, {
      ...fresh,
      stage: 'won',
      status: 'won',
      probability: 100,
      closed_at: now,
      updated_at: now,
    })
    assert.deepEqual(await read(fresh.id), won)
    clock.advance(1000)
    const lost = await changeStage(fresh.id, { stage: 'lost', lost_reason: 'Cancelled' })
    assert.equal(lost.closed_at, new Date(clock.now()).toISOString())
    assert.equal((await changeStage(fresh.id, { stage: 'qualification', probability: 7 })).probability, 7)
  })

  test('stage is required, and lost needs a reason that no other stage accepts', async () => {
    const { id } = await deal()
    const url = `${path}/${id}/change-stage`
    await refused('POST', url, {}, ['stage required'])
    await refused('POST', url, undefined, ['stage required'])
    await refused('POST', url, { stage: 'Won' }, ['stage unknown_value'])
    for (const lost_reason of [undefined, null, '', '  '])
      await refused('POST', url, { stage: 'lost', lost_reason }, ['lost_reason required'])
    const longest = '🙂'.repeat(255)
    for (const [method, at] of [
      ['POST', url],
      ['PUT', `${path}/${id}`],
    ] as const)
      await refused(method, at, { stage: 'lost', lost_reason: `${longest}x` }, ['lost_reason too_long'])
    await refused('POST', path, { name: 'A', lost_reason: `${longest}x` }, ['lost_reason too_long'])
    const { id: other } = await deal()
    assert.equal((await changeStage(other, { stage: 'lost', lost_reason: longest })).lost_reason, longest)
    await refused('POST', url, { stage: 'won', lost_reason: 'Price' }, ['lost_reason not_allowed'])
    assert.equal((await read(id)).stage, 'new_lead')
  })

  test('to lost again without a reason changes nothing, with another one it is saved', async () => {
    const { id } = await deal()
    const lost = await changeStage(id, { stage: 'lost', lost_reason: 'Price' })
    clock.advance(1000)
    assert.deepEqual(await changeStage(id, { stage: 'lost' }), lost)
    const other = await changeStage(id, { stage: 'lost', lost_reason: 'Timing', probability: 3 })
    assert.deepEqual([other.lost_reason, other.probability, other.closed_at], ['Timing', 3, lost.closed_at])
  })

  test('a sent default becomes an own value that shows after reopening, without a visible change now', async () => {
    const fresh = await deal({ stage: 'demo' })
    clock.advance(1000)
    assert.deepEqual(await changeStage(fresh.id, { stage: 'demo', probability: 40 }), fresh)
    assert.deepEqual(
      (await stored.events('deal', fresh.id)).map(({ event }) => event),
      ['deal.created'],
    )
    await changeStage(fresh.id, { stage: 'won' })
    assert.equal((await changeStage(fresh.id, { stage: 'new_lead' })).probability, 40)
  })

  test('of two requests that win a deal concurrently, exactly one changes it', async () => {
    const { id } = await deal()
    const both = await Promise.all([1, 2].map(() => changeStage(id, { stage: 'won' })))
    assert.deepEqual(both[0], both[1])
    const names = (await stored.events('deal', id)).map(({ event }) => event)
    assert.deepEqual(names, ['deal.created', 'deal.stage_changed', 'deal.won'])
  })

  test('the history keeps every stage with the time and the key, and nothing else', async () => {
    const { id } = await deal()
    const created_at = new Date(clock.now()).toISOString()
    clock.advance(1000)
    await changeStage(id, { stage: 'demo' })
    await changeStage(id, { stage: 'demo', probability: 3 })
    await put(id, { name: 'Renamed' })
    await put(id, { stage: 'won' })
    await refused('PUT', `${path}/${id}`, { stage: 'lost' }, ['lost_reason required'])
    const changed_at = new Date(clock.now()).toISOString()
    const [key] = await stored.rows('SELECT id FROM api_keys WHERE hash = ?', hashToken(rapport.key))
    const rows = await stored.rows(
      'SELECT from_stage, to_stage, changed_at, changed_by FROM deal_stages WHERE deal_id = ? ORDER BY id',
      id,
    )
    assert.deepEqual(rows, [
      { from_stage: null, to_stage: 'new_lead', changed_at: created_at, changed_by: key?.id },
      { from_stage: 'new_lead', to_stage: 'demo', changed_at, changed_by: key?.id },
      { from_stage: 'demo', to_stage: 'won', changed_at, changed_by: key?.id },
    ])
  })
})

describe('preconditions and the trash', () => {
  test('a deal that does not exist is 404 before its body is judged', async () => {
    const { id } = await deal()
    await call('DELETE', `${path}/${id}`)
    for (const unknown of [id, 999_999, 'x', 0, -1, '1.0']) {
      assert.equal((await call('GET', `${path}/${unknown}`)).status, 404)
      assert.equal((await call('PUT', `${path}/${unknown}`, { name: null })).status, 404)
      assert.equal((await call('POST', `${path}/${unknown}/change-stage`, { stage: 5 })).status, 404)
      assert.equal((await call('DELETE', `${path}/${unknown}`)).status, 404)
    }
  })

  test('If-Match of an older state refuses PUT, change-stage and DELETE with 412, before 422', async () => {
    const { id } = await deal()
    const old = (await call('GET', `${path}/${id}`)).headers.get('etag') ?? ''
    const current = (await call('PUT', `${path}/${id}`, { name: 'Renamed' })).headers.get('etag') ?? ''
    const calls = [
      ['PUT', `${path}/${id}`, { name: null }],
      ['POST', `${path}/${id}/change-stage`, { stage: 'sold' }],
      ['DELETE', `${path}/${id}`, undefined],
    ] as const
    for (const [method, url, body] of calls)
      assert.equal((await call(method, url, body, { 'if-match': old })).status, 412, method)
    const won = await call('POST', `${path}/${id}/change-stage`, { stage: 'won' }, { 'if-match': current })
    assert.equal(won.status, 200)
    const known = { 'if-none-match': won.headers.get('etag') ?? '' }
    assert.equal((await call('GET', `${path}/${id}`, undefined, known)).status, 304)
  })

  test('a deleted deal comes back as it was, and leaves and joins the totals', async () => {
    const { id: company_id } = await company()
    const fresh = await deal({ company_id, stage: 'lost', value: 5 })
    const total = async () => (await call('GET', `${path}?company_id=${company_id}`)).body.meta.total
    const gone = await call('DELETE', `${path}/${fresh.id}`)
    assert.deepEqual([gone.status, gone.body], [200, { success: true, message: 'The deal was deleted.' }])
    assert.equal(await total(), 0)
    clock.advance(1000)
    const back = await changed('POST', `${path}/${fresh.id}/restore`, {})
    assert.deepEqual(back, fresh)
    assert.equal(await total(), 1)
    assert.deepEqual(await changed('POST', `${path}/${fresh.id}/restore`, {}), back)
    assert.equal(await total(), 1)
  })
})
