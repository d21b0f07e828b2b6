// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace, useStored, withoutOrigin } from '../../../test/database.ts'
import { dataOf, problems, refused, unset } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { useReceiver } from '../../../test/receiver.ts'
import { register } from '../../../test/webhooks.ts'

// The real time: signatures are only good for a few minutes.
const clock = turnableClock(Date.now())
const receiver = useReceiver()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/activities'
const now = () => new Date(clock.now()).toISOString()
const ok = async (method: string, url: string, body?: object) => dataOf(await call(method, url, body))
const make = (body: object = {}) => ok('POST', path, { subject: 'Call Ada', ...body })
const put = (id: number, body: object) => ok('PUT', `${path}/${id}`, body)
const complete = (id: number, body?: object) => ok('POST', `${path}/${id}/complete`, body)
const reopen = (id: number) => ok('POST', `${path}/${id}/reopen`)
const read = (id: number) => ok('GET', `${path}/${id}`)
const names = async (id: number) => (await stored.events('activity', id)).map(({ event }) => event)
const completions = async (id: number) =>
  (await names(id)).filter((event) => event === 'activity.completed').length
const lastEntry = async (id: number) => (await stored.audit('activities', id)).at(-1)

describe('complete', () => {
  test('it answers 200 with the detail view: completed now, the outcome saved, everything else as it was', async () => {
    const one = await make({ type: 'call', body: 'Ask', due_at: '2026-11-24T09:00:00.000Z' })
    clock.advance(1000)
    const reply = await call('POST', `${path}/${one.id}/complete`, { outcome: ' Orders on Friday ' })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('location'), null)
    const outcome = 'Orders on Friday'
    assert.deepEqual(reply.body.data, { ...one, completed_at: now(), outcome, updated_at: now() })
    assert.equal((await call('GET', `${path}/${one.id}`)).text, reply.text)
    assert.deepEqual(await lastEntry(one.id), {
      action: 'completed',
      before: { completed_at: null, outcome: null },
      after: { completed_at: now(), outcome },
    })
  })

  test('without an outcome, with or without a body, the outcome of before stays; null clears it', async () => {
    for (const body of [undefined, {}]) {
      const { id } = await make({ outcome: 'Half done' })
      assert.equal((await complete(id, body)).outcome, 'Half done')
    }
    const { id } = await make({ outcome: 'Half done' })
    assert.equal((await complete(id, { outcome: null })).outcome, null)
  })

  test('a completed one stays as it is, without a second event or entry', async () => {
    const { id } = await make()
    const { text } = await call('POST', `${path}/${id}/complete`, { outcome: 'Done' })
    clock.advance(1000)
    for (const body of [undefined, {}, { outcome: 'Done' }])
      assert.equal((await call('POST', `${path}/${id}/complete`, body)).text, text)
    assert.equal(await completions(id), 1)
    const entries = await stored.rows(
      "SELECT action FROM audit_log WHERE kind = 'activities' AND record_id = ?",
      String(id),
    )
    assert.equal(entries.length, 2)
  })

  test('a new outcome on a completed one is saved, and is no completion', async () => {
    const { id } = await make()
    const done = await complete(id, { outcome: 'Done' })
    clock.advance(1000)
    assert.deepEqual(await complete(id, { outcome: 'Ordered' }), {
      ...done,
      outcome: 'Ordered',
      updated_at: now(),
    })
    assert.equal(await completions(id), 1)
    assert.deepEqual(await lastEntry(id), {
      action: 'updated',
      before: { outcome: 'Done' },
      after: { outcome: 'Ordered' },
    })
  })

  test('it takes the outcome alone: other fields are unknown, not lost; what is read-only is ignored', async () => {
    const { id } = await make()
    const sent = { subject: 'A', completed_at: now(), type: 'call', done: true }
    assert.deepEqual(
      problems(await call('POST', `${path}/${id}/complete`, sent)),
      Object.fromEntries(Object.keys(sent).map((name) => [name, 'unknown_field'])),
    )
    assert.equal((await complete(id, { id: 7, created_at: 'x' })).completed_at, now())
    refused(await call('POST', `${path}/999999/complete`, sent), 404, 'not_found')
    refused(await call('POST', `${path}/999999/reopen`), 404, 'not_found')
  })
})

describe('reopen', () => {
  test('it answers 200 without completed_at, and the outcome stays; no event, one audit entry', async () => {
    const one = await make()
    const { completed_at, outcome } = await complete(one.id, { outcome: 'Done' })
    clock.advance(1000)
    assert.deepEqual(await reopen(one.id), { ...one, outcome, updated_at: now() })
    assert.deepEqual(await names(one.id), ['activity.created', 'activity.completed'])
    assert.deepEqual(await lastEntry(one.id), {
      action: 'reopened',
      before: { completed_at },
      after: { completed_at: null },
    })
  })

  test('an open one stays as it is', async () => {
    const { id } = await make()
    const { text } = await call('GET', `${path}/${id}`)
    clock.advance(1000)
    assert.equal((await call('POST', `${path}/${id}/reopen`, {})).text, text)
    assert.equal((await lastEntry(id))?.action, 'created')
  })

  test('completed again after it: activity.completed again', async () => {
    const { id } = await make()
    for (let times = 1; times <= 3; times++) {
      clock.advance(1000)
      assert.equal((await complete(id)).completed_at, now())
      assert.equal(await completions(id), times)
      await reopen(id)
    }
  })
})

describe('by PUT and POST', () => {
  const time = '2026-11-20T12:00:00.000Z'

  test('a completed_at on an open one completes it, then, with one event however much else changes', async () => {
    const { id } = await make()
    const done = await put(id, { completed_at: time, outcome: 'Done', subject: 'New' })
    assert.equal(done.completed_at, time)
    const [, event, ...more] = await stored.events('activity', id)
    assert.deepEqual(event?.data, done)
    assert.deepEqual(more, [])
    assert.deepEqual(await lastEntry(id), {
      action: 'completed',
      before: { subject: 'Call Ada', completed_at: null, outcome: null },
      after: { subject: 'New', completed_at: time, outcome: 'Done' },
    })
  })

  test('another completed_at on a completed one corrects the time: no completion', async () => {
    const { id } = await make()
    await complete(id)
    assert.equal((await put(id, { completed_at: time })).completed_at, time)
    assert.equal(await completions(id), 1)
    assert.equal((await lastEntry(id))?.action, 'updated')
  })

  test('completed_at null reopens, without an event', async () => {
    const { id } = await make({ completed_at: time })
    assert.equal((await put(id, { completed_at: null })).completed_at, null)
    assert.deepEqual(await names(id), ['activity.created', 'activity.completed'])
    assert.equal((await lastEntry(id))?.action, 'reopened')
    await complete(id)
    assert.equal(await completions(id), 2)
  })

  test('created with completed_at it is created and completed, in that order and with the same data', async () => {
    const one = await make({ completed_at: time, outcome: 'Done' })
    const [created, completed, ...more] = await stored.events('activity', one.id)
    assert.deepEqual([created?.event, completed?.event], ['activity.created', 'activity.completed'])
    for (const event of [created, completed]) assert.deepEqual(event?.data, one)
    assert.deepEqual(more, [])
    assert.equal((await lastEntry(one.id))?.action, 'created')
  })
})

describe('at once', () => {
  test('of 40 simultaneous completions one completes: one event, one time, and all are answered 200', async () => {
    for (let round = 0; round < 3; round++) {
      const { id } = await make()
      const replies = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          // By both ways.
          index % 4 === 3
            ? call('PUT', `${path}/${id}`, { completed_at: now() })
            : call('POST', `${path}/${id}/complete`),
        ),
      )
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
      assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
      assert.deepEqual(await names(id), ['activity.created', 'activity.completed'])
    }
  })

  test('completions and reopenings at once: an event for each completion in the audit log, and no other', async () => {
    const { id } = await make()
    await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 ? reopen(id) : complete(id))))
    const entries = await stored.rows(
      "SELECT action FROM audit_log WHERE kind = 'activities' AND record_id = ? ORDER BY id",
      String(id),
    )
    const actions = entries.slice(1).map(({ action }) => action)
    // They take turns: each found what the one before it had left.
    actions.forEach((action, index) => {
      assert.equal(action, index % 2 ? 'reopened' : 'completed')
    })
    const completed = actions.filter((action) => action === 'completed').length
    assert.ok(completed >= 1)
    assert.equal(await completions(id), completed)
    assert.equal((await read(id)).completed_at !== null, actions.length % 2 === 1)
  })

  test('a deletion and a completion at once: completed before it was deleted, or not at all', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await make()
      const [completed, deleted] = await Promise.all([
        call('POST', `${path}/${id}/complete`),
        call('DELETE', `${path}/${id}`),
      ])
      assert.equal(deleted.status, 200)
      assert.ok([200, 404].includes(completed.status))
      assert.equal(await completions(id), completed.status === 200 ? 1 : 0)
    }
  })
})

test('both events arrive at a receiver, signed, with exactly the detail view', async () => {
  const caller = await newWorkspace(rapport)
  const events = ['activity.created', 'activity.completed']
  const hook = await register(caller, { url: receiver.url, events })
  const contact_id = (await caller('POST', '/api/v1/contacts', { first_name: 'A', last_name: 'O' })).body.data
    .id
  const body = { type: 'call', subject: 'Talk', due_at: '2026-11-24T09:00:00.000Z', contact_id }
  const created = (await caller('POST', path, body)).body.data
  await receiver.waitFor(1)
  clock.advance(60_000)
  const completed = (await caller('POST', `${path}/${created.id}/complete`, { outcome: 'Done' })).body.data
  // Neither of these emits an event.
  await caller('PUT', `${path}/${created.id}`, { subject: 'New' })
  await caller('POST', `${path}/${created.id}/reopen`)
  await caller('DELETE', `${path}/${created.id}`)
  await caller('POST', `${path}/${created.id}/restore`)
  const requests = await receiver.waitFor(2)
  await receiver.verify(hook.secret)
  const log = (await caller('GET', '/api/v1/deliveries')).body
  assert.equal(log.meta.total, 2)

  const payloads = requests.map((request) => JSON.parse(request.body))
  assert.deepEqual(
    payloads.map(withoutOrigin).map(({ id, ...payload }) => ({ ...payload, id: typeof id })),
    [
      {
        id: 'string',
        event: 'activity.created',
        timestamp: created.created_at,
        webhook_id: hook.id,
        data: {
          id: created.id,
          ...body,
          body: null,
          completed_at: null,
          outcome: null,
          company_id: null,
          deal_id: null,
          created_at: created.created_at,
          updated_at: created.created_at,
          ...unset,
          created_by: created.created_by,
          updated_by: created.created_by,
        },
      },
      {
        id: 'string',
        event: 'activity.completed',
        timestamp: completed.completed_at,
        webhook_id: hook.id,
        data: completed,
      },
    ],
  )
  assert.deepEqual(
    requests.map(({ headers }) => headers['x-service-event']),
    events,
  )
})
