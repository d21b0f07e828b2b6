// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace } from '../database.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { useReceiver } from '../receiver.ts'
import { before } from '../use.ts'
import {
  act,
  attempted,
  attemptsNothing,
  type Call,
  company,
  type Delivery,
  log,
  register,
  total,
  until,
  type Webhook,
} from '../webhooks.ts'

const clock = turnableClock()
const receiver = useReceiver()
const rapport = useRapport({ clock, env: { WEBHOOK_RETRY_DELAYS: '60' } })

describe('the list of deliveries', () => {
  let call: Call
  let good: Webhook
  let bad: Webhook
  let all: Delivery[]
  const first_ms = clock.now()

  // A good and a bad webhook, one second between the events: five companies, five deals, a ping, a deleted webhook.
  before(async () => {
    receiver.answering = ({ path }) => ({ status: path === '/hook/bad' ? 500 : 200 })
    call = await newWorkspace(rapport)
    const events = ['company.created', 'deal.created']
    good = await register(call, { url: receiver.url, events })
    bad = await register(call, { url: `${receiver.url}/bad`, events: ['company.created'] })
    const gone = await register(call, { url: receiver.url, events: ['deal.created'] })
    await act(call, gone.id, 'pause')
    for (let n = 0; n < 5; n++) {
      await company(call)
      await call('POST', '/api/v1/deals', { name: 'Deal' })
      clock.advance(1000)
    }
    await act(call, good.id, 'test')
    await call('DELETE', `/api/v1/webhooks/${gone.id}`)
    const tried = () => log(call, `webhook_id=${bad.id}&per_page=100`)
    await until(tried, (those) => those.every(({ attempt_count }) => attempt_count === 1))
    // Also of the good webhook: a jump of the clock would end the leases of its attempts.
    await until(() => attemptsNothing(rapport.call), Boolean)
    clock.advance(60_000)
    rapport.wake()
    await until(tried, (those) => those.every(({ status }) => status === 'failed'))
    await until(
      () => log(call, `webhook_id=${good.id}&per_page=100`),
      (those) => those.every(({ status }) => status === 'succeeded'),
    )
    clock.advance(1000)
    receiver.answering = () => ({ status: 500 })
    await company(call)
    await until(tried, (those) => those[0]?.attempt_count === 1)
    all = await until(
      () => log(call),
      (those) => those.every(({ attempt_count, status }) => attempt_count === 1 || status !== 'pending'),
    )
  })

  const matching = (filter: (one: Delivery) => boolean) => all.filter(filter).map(({ id }) => id)
  async function shows(query: string, filter: (one: Delivery) => boolean) {
    const expected = matching(filter)
    const { status, body, text } = await call('GET', `/api/v1/deliveries?per_page=100&${query}`)
    assert.equal(status, 200, text)
    assert.deepEqual(
      body.data.map(({ id }: Delivery) => id),
      expected,
      query,
    )
    assert.equal(body.meta.total, expected.length, query)
    return expected.length
  }

  test('is newest first, in pages with an exact total', async () => {
    assert.equal(all.length, 23)
    assert.deepEqual(
      all.map(({ id }) => id),
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    )
    const page = await call('GET', '/api/v1/deliveries?per_page=5&page=5')
    assert.deepEqual(page.body, {
      success: true,
      data: all.slice(20),
      meta: { current_page: 5, last_page: 5, per_page: 5, total: 23 },
    })
    assert.deepEqual((await call('GET', '/api/v1/deliveries?page=9')).body.data, [])
  })

  test('filters by webhook, event and status, alone and together, each total exact', async () => {
    assert.equal(await shows(`webhook_id=${good.id}`, (one) => one.webhook_id === good.id), 12)
    assert.equal(await shows(`webhook_id=${bad.id}`, (one) => one.webhook_id === bad.id), 6)
    assert.equal(await shows('event=deal.created', ({ event }) => event === 'deal.created'), 10)
    assert.equal(await shows('event=ping', ({ event }) => event === 'ping'), 1)
    assert.equal(await shows('event=deal.won', () => false), 0)
    for (const [status, count] of Object.entries({ succeeded: 11, failed: 5, pending: 2, cancelled: 5 }))
      assert.equal(await shows(`status=${status}`, (one) => one.status === status), count)
    const both = `webhook_id=${good.id}&event=company.created&status=succeeded`
    await shows(
      both,
      (one) => one.webhook_id === good.id && one.event === 'company.created' && one.status === 'succeeded',
    )
  })

  test('filters by record, event and status code, alone and together, each total exact', async () => {
    const [first] = all.filter(({ event }) => event === 'company.created').slice(-1)
    const { kind, record_id, event_id } = first as Delivery
    assert.equal(kind, 'companies')
    const same = ({ kind: of, record_id: id }: Delivery) => of === kind && id === record_id
    const record = `kind=companies&record_id=${record_id}`
    assert.equal(await shows(record, same), 2)
    assert.equal(await shows(`kind=companies&id=${record_id}`, same), 2)
    assert.equal(
      await shows(
        `kind=deals&record_id=${record_id}`,
        (one) => one.kind === 'deals' && one.record_id === record_id,
      ),
      2,
    )
    assert.equal(
      await shows(`${record}&webhook_id=${good.id}`, (one) => same(one) && one.webhook_id === good.id),
      1,
    )
    await shows(`${record},999999`, same)
    await shows(
      `kind=companies&record_id=!${record_id}`,
      (one) => one.kind === kind && one.record_id !== record_id,
    )
    await shows('kind=deals', (one) => one.kind === 'deals')
    await shows('kind=deals&event=company.created', () => false)
    assert.equal(await shows(`event_id=${event_id}`, (one) => one.event_id === event_id), 2)
    await shows(
      `event_id=${event_id}&status=failed`,
      (one) => one.event_id === event_id && one.status === 'failed',
    )
    await shows(`event_id=!${event_id}`, (one) => one.event_id !== event_id)
    const codes = new Map<string, number | null>()
    for (const row of (await call('GET', '/api/v1/deliveries?per_page=100&details=true')).body.data)
      codes.set(row.id, row.last_response_status)
    const has =
      (...wanted: (number | null)[]) =>
      ({ id }: Delivery) =>
        wanted.includes(codes.get(id) ?? null)
    assert.equal(await shows('status_code=500', has(500)), 7)
    assert.equal(await shows('status_code=200,500', has(200, 500)), 18)
    assert.equal(await shows('status_code=404', has(404)), 0)
    await shows('status_code=!500', (one) => !has(500)(one))
    await shows(
      `status_code=500&webhook_id=${bad.id}&status=failed`,
      (one) => has(500)(one) && one.webhook_id === bad.id && one.status === 'failed',
    )
    await shows(`${record}&status_code=500`, (one) => same(one) && has(500)(one))
    for (const query of ['status_code=500', 'status_code=200,500', record]) {
      const followed: string[] = []
      for (let cursor: string | null = 'start'; cursor !== null; ) {
        const { body } = await call('GET', `/api/v1/deliveries?per_page=4&${query}&cursor=${cursor}`)
        followed.push(...body.data.map(({ id }: Delivery) => id))
        cursor = body.meta.next_cursor
      }
      const whole = (await call('GET', `/api/v1/deliveries?per_page=100&${query}`)).body.data
      assert.deepEqual(
        followed,
        whole.map(({ id }: Delivery) => id),
        query,
      )
    }
    for (const query of [
      'record_id=1',
      'kind=companies,deals&record_id=1',
      'id=1',
      'kind=nothing',
      'status_code=many',
    ])
      assert.equal((await call('GET', `/api/v1/deliveries?${query}`)).status, 422, query)
  })

  test('a row names its record: kind and id, and with details=true its present title', async () => {
    const rows = (await call('GET', '/api/v1/deliveries?per_page=100&details=true')).body.data
    for (const { event, kind, record_id, title } of rows)
      if (event === 'ping') assert.deepEqual([kind, record_id, title], [null, null, null])
      else
        assert.deepEqual(
          [kind, title],
          event === 'company.created' ? ['companies', 'Acme'] : ['deals', 'Deal'],
        )
  })

  test('takes several values and "not" in each filter, with exact totals, by page and by cursor', async () => {
    const two = `webhook_id=${good.id},${bad.id}`
    const cases: [string, (one: Delivery) => boolean][] = [
      [two, ({ webhook_id }) => [good.id, bad.id].includes(webhook_id)],
      [`webhook_id=!${good.id}`, ({ webhook_id }) => webhook_id !== good.id],
      [`webhook_id=${good.id},wh_unknown,${good.id}`, ({ webhook_id }) => webhook_id === good.id],
      ['event=deal.created,ping', ({ event }) => event !== 'company.created'],
      ['event=!deal.created', ({ event }) => event !== 'deal.created'],
      ['status=failed,pending', ({ status }) => status === 'failed' || status === 'pending'],
      ['status=pending,cancelled,cancelled', ({ status }) => status === 'pending' || status === 'cancelled'],
      ['status=!succeeded', ({ status }) => status !== 'succeeded'],
      ['status=!pending,!succeeded,!failed,!cancelled', () => false],
      [
        `${two}&event=!ping&status=failed,succeeded`,
        (one) => one.event !== 'ping' && /^[fs]/.test(one.status),
      ],
    ]
    for (const [query, matches] of cases) {
      await shows(query, matches)
      const followed: string[] = []
      for (let cursor: string | null = 'start'; cursor !== null; ) {
        const { body } = await call('GET', `/api/v1/deliveries?per_page=4&cursor=${cursor}&${query}`)
        followed.push(...body.data.map(({ id }: Delivery) => id))
        cursor = body.meta.next_cursor
      }
      assert.deepEqual(followed, matching(matches), query)
    }
    const last = await call('GET', '/api/v1/deliveries?per_page=4&page=4&event=deal.created,company.created')
    assert.deepEqual(
      last.body.data.map(({ id }: Delivery) => id),
      matching(({ event }) => event !== 'ping').slice(12, 16),
    )
  })

  test('with details=true each tells how its newest attempt ended, and how long it took; without, it is exactly a delivery', async () => {
    const parts = (query: string) => call('GET', `/api/v1/deliveries?per_page=100&${query}`)
    for (const query of ['details=true', 'details=true&cursor=start'])
      for (const row of (await parts(query)).body.data) {
        const { last_duration_ms, last_response_status, last_error_code, title: _, ...delivery } = row
        const { attempts, ...shown } = (await call('GET', `/api/v1/deliveries/${delivery.id}`)).body.data
        assert.deepEqual(delivery, shown)
        const newest = attempts.at(-1)
        assert.deepEqual(
          [last_duration_ms, last_response_status, last_error_code],
          [newest?.duration_ms ?? null, newest?.response?.status ?? null, newest?.error?.code ?? null],
        )
      }
    for (const query of ['', 'details=false']) assert.deepEqual((await parts(query)).body.data, all)
    assert.ok(all.every((delivery) => !('last_duration_ms' in delivery)))
    assert.equal((await parts('details=yes')).status, 422)
  })

  test('from and to are inclusive, in any time zone', async () => {
    const at = (seconds: number) => new Date(first_ms + seconds * 1000).toISOString()
    const second = ({ created_at }: Delivery) => (Date.parse(created_at) - first_ms) / 1000
    await shows(`from=${at(2)}`, (one) => second(one) >= 2)
    await shows(`to=${at(2)}`, (one) => second(one) <= 2)
    assert.equal(await shows(`from=${at(1)}&to=${at(1)}`, (one) => second(one) === 1), 4)
    await shows(`from=${at(1.001)}&to=${at(2.999)}`, (one) => second(one) === 2)
    const plus_two = encodeURIComponent(at(2 + 7200).replace('Z', '+02:00'))
    await shows(
      `from=${plus_two}&event=deal.created`,
      (one) => second(one) >= 2 && one.event === 'deal.created',
    )
    assert.equal(await shows(`from=${at(9)}&to=${at(8)}`, () => false), 0)
  })

  test('an unknown webhook is an empty list; an unknown event, status or time is refused', async () => {
    assert.equal(await shows('webhook_id=wh_unknown', () => false), 0)
    assert.equal(await shows(`webhook_id=wh_unknown&status=failed`, () => false), 0)
    const wrong = {
      event: ['deal.moved', 'DEAL.WON', '*', ''],
      status: ['done', 'Failed', ''],
      webhook_id: ['', ' ', 'wh_1,'],
      from: ['yesterday', '2026-11-21', '2026-02-30T00:00:00Z', '2026-12-31T23:59:60Z', '1795260138604', ''],
      to: ['2026-11-21T24:00:00Z', '2026-11-21T08:00:00+02', '2026-11-21T08:00:00'],
      page: ['0', '-1', '1.5', 'x'],
    }
    for (const [name, values] of Object.entries(wrong))
      for (const value of values) {
        const reply = await call('GET', `/api/v1/deliveries?${name}=${encodeURIComponent(value)}`)
        assert.equal(reply.status, 422, `${name}=${value}`)
        assert.equal(reply.body.error.fields[0].field, name)
      }
    assert.equal((await call('GET', '/api/v1/deliveries?webhook=x')).status, 400)
  })

  test('totals stay exact through resends, cancellations and deleted webhooks', async () => {
    receiver.answering = () => ({})
    assert.deepEqual(await act(call, bad.id, 'resend-failed'), { count: 5 })
    await until(() => total(call, `webhook_id=${bad.id}&status=succeeded`), 5)
    await call('DELETE', `/api/v1/webhooks/${bad.id}`)
    await call('DELETE', `/api/v1/webhooks/${good.id}`)
    all = await log(call)
    assert.equal(all.length, 23)
    for (const status of ['pending', 'succeeded', 'failed', 'cancelled'])
      await shows(`status=${status}`, (one) => one.status === status)
    await shows('status=pending,failed', ({ status }) => status === 'failed')
    await shows('status=!pending', () => true)
    for (const event of ['company.created', 'deal.created', 'ping'])
      await shows(`event=${event}`, (one) => one.event === event)
    for (const { id } of [good, bad]) await shows(`webhook_id=${id}`, (one) => one.webhook_id === id)
    assert.equal(await total(call, 'status=pending'), 0)
  })
})

describe('metrics', () => {
  async function numbers() {
    const { text } = await rapport.call('GET', '/metrics')
    const value = (name: string) =>
      Number(new RegExp(`^rapport_deliveries_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
    return {
      due: value('due'),
      in_flight: value('in_flight'),
      failed: value('failed'),
      oldest: value('oldest_due_seconds'),
    }
  }

  test('show how much paused webhooks keep, and for how long', async () => {
    const call = await newWorkspace(rapport)
    const kept = async () => {
      const { text } = await rapport.call('GET', '/metrics')
      const value = (name: string) =>
        Number(new RegExp(`^rapport_deliveries_${name} (.*)$`, 'm').exec(text)?.[1])
      return [value('paused'), value('oldest_paused_seconds')]
    }
    assert.deepEqual(await kept(), [0, 0])
    const hook = await register(call, { url: receiver.url })
    await act(call, hook.id, 'pause')
    for (let n = 0; n < 3; n++) {
      await company(call)
      clock.advance(3_600_000)
    }
    assert.deepEqual(await kept(), [3, 3 * 3600])
    receiver.answering = () => ({})
    await act(call, hook.id, 'resume')
    await until(kept, ([paused]) => paused === 0)
    assert.deepEqual(await kept(), [0, 0])
    await until(() => total(call, 'status=pending'), 0)
  })

  test('show what is due and for how long, what is in flight, and what failed', async () => {
    const call = await newWorkspace(rapport)
    const before = await numbers()
    assert.deepEqual({ ...before, failed: 0 }, { due: 0, in_flight: 0, failed: 0, oldest: 0 })
    receiver.answering = () => 'hang'
    const hook = await register(call, { url: receiver.url })
    for (let n = 0; n < 7; n++) await company(call)
    // Four at once is what a new webhook gets; the other three are due and wait.
    const busy = await until(numbers, { in_flight: 4 })
    assert.deepEqual([busy.due, busy.oldest], [3, 0])
    clock.advance(12_500)
    assert.deepEqual([(await numbers()).due, (await numbers()).oldest], [3, 12.5])
    await act(call, hook.id, 'pause')
    assert.deepEqual([(await numbers()).due, (await numbers()).oldest], [0, 0])

    receiver.answering = () => ({ status: 500 })
    receiver.drop()
    await until(
      () => log(call),
      (all) => all.filter(({ attempt_count }) => attempt_count === 1).length === 4,
    )
    await act(call, hook.id, 'resume')
    await until(
      () => log(call),
      (all) => all.every(({ attempt_count }) => attempt_count === 1),
    )
    assert.deepEqual((await numbers()).due, 0)
    clock.advance(60_000)
    rapport.wake()
    const [last] = await log(call)
    await attempted(call, String(last?.id), 2)
    const after = await until(numbers, ({ failed }) => failed === before.failed + 7)
    assert.deepEqual([after.due, after.in_flight, after.oldest], [0, 0, 0])
  })
})
