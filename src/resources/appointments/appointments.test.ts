import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { authorsOf, dataOf, problems, refused, unset } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/appointments'
const now = () => new Date(clock.now()).toISOString()
const ok = async (method: string, url: string, body?: object) => dataOf(await call(method, url, body))
const start_at = '2026-12-01T10:00:00.000Z'
const end_at = '2026-12-01T10:30:00.000Z'
const make = (body: object = {}) => ok('POST', path, { title: 'Demo', start_at, end_at, ...body })
const read = (id: number) => ok('GET', `${path}/${id}`)
const put = (id: number, body: object) => ok('PUT', `${path}/${id}`, body)
const contact = () => ok('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: 'Okafor' })
const deal = () => ok('POST', '/api/v1/deals', { name: 'Seats' })
let pages = 0
const page = () =>
  ok('POST', '/api/v1/booking-pages', { slug: `page-${++pages}`, title: 'Demo', time_zone: 'UTC' })
const refusedFields = async (method: string, url: string, body: unknown) =>
  problems(await call(method, url, body))
const eventsOf = async (id: number) =>
  (await stored.events('appointment', id)).map(({ event, data, changed_fields, previous }) => ({
    event,
    data,
    changed_fields,
    previous,
  }))
const entriesOf = (id: number) => stored.audit('appointments', id)

describe('create', () => {
  test('with title and times alone it is scheduled, in exactly the detail view', async () => {
    const reply = await call('POST', path, { title: ' Demo ', start_at, end_at })
    assert.equal(reply.status, 201)
    const { id, ...rest } = reply.body.data
    assert.equal(reply.headers.get('location'), `${path}/${id}`)
    const nothing = {
      ...{ type: null, contact_id: null, booking_page_id: null },
      ...{ deal_id: null, location: null, notes: null },
    }
    const state = { status: 'scheduled', cancel_reason: null, created_at: now(), updated_at: now() }
    const added = { ...unset, host_ids: [], guest_ids: [], ...authorsOf(rest) }
    assert.deepEqual(rest, { title: 'Demo', start_at, end_at, ...nothing, ...state, ...added })
    assert.deepEqual(await read(id), reply.body.data)
  })

  test('every field is kept as sent, and times in whatever zone become UTC with milliseconds', async () => {
    const fields = {
      title: 'Demo',
      type: 'demo',
      location: 'Video call',
      notes: 'Bring the offer',
      contact_id: (await contact()).id,
      booking_page_id: (await page()).id,
      deal_id: (await deal()).id,
      guest_ids: [(await contact()).id, (await contact()).id],
    }
    const times = { start_at: '2026-12-01T11:00:00+01:00', end_at: '2026-12-01T05:30:00.0009-05:00' }
    const { id, created_at, updated_at, ...rest } = await ok('POST', path, { ...fields, ...times })
    const added = { ...unset, host_ids: [], ...authorsOf(rest) }
    assert.deepEqual(rest, {
      ...fields,
      start_at,
      end_at,
      status: 'scheduled',
      cancel_reason: null,
      ...added,
    })
  })

  test('it writes appointment.created with exactly the seven keys of the interface, and one audit entry', async () => {
    const refers = { contact_id: (await contact()).id, deal_id: (await deal()).id }
    const one = await make({ type: 'demo', ...refers, location: 'Room 1' })
    const { id, title, type, contact_id, booking_page_id, deal_id } = one
    const [event, ...others] = await stored.events('appointment', id)
    assert.deepEqual(others, [])
    assert.deepEqual(Object.keys(event ?? {}), ['id', 'event', 'timestamp', 'data'])
    assert.equal(event?.event, 'appointment.created')
    assert.deepEqual(event?.data, { id, title, type, start_at, end_at, contact_id, booking_page_id })
    const after = {
      title,
      type,
      start_at,
      end_at,
      contact_id,
      deal_id,
      location: 'Room 1',
      status: 'scheduled',
      host_ids: [],
      guest_ids: [],
      tags: [],
      custom_fields: {},
    }
    assert.deepEqual(await entriesOf(id), [{ action: 'created', before: null, after }])
  })

  test('one answer names every failing field, bad references among them', async () => {
    assert.deepEqual(await refusedFields('POST', path, {}), {
      title: 'required',
      start_at: 'required',
      end_at: 'required',
    })
    const wrong = {
      title: ' ',
      type: 'x'.repeat(65),
      start_at: '2026-12-01',
      end_at: null,
      location: 'x'.repeat(256),
      notes: 'x'.repeat(65_536),
      contact_id: 999_999,
      booking_page_id: '1',
      deal_id: 999_999,
      color: 'red',
    }
    assert.deepEqual(await refusedFields('POST', path, wrong), {
      title: 'required',
      type: 'too_long',
      start_at: 'invalid_format',
      end_at: 'required',
      location: 'too_long',
      notes: 'too_long',
      contact_id: 'not_found',
      booking_page_id: 'invalid_type',
      deal_id: 'not_found',
      color: 'unknown_field',
    })
    assert.deepEqual(
      await refusedFields('POST', path, {
        title: 'Demo',
        start_at,
        end_at: start_at,
        booking_page_id: 999_999,
      }),
      { end_at: 'before_start', booking_page_id: 'not_found' },
    )
  })

  test('what is read-only is accepted and ignored', async () => {
    const sent = { id: 7_000_000, status: 'cancelled', cancel_reason: 'x', created_at: 'x', updated_at: null }
    const one = await make(sent)
    assert.notEqual(one.id, 7_000_000)
    assert.deepEqual([one.status, one.cancel_reason, one.created_at], ['scheduled', null, now()])
  })
})

describe('change', () => {
  test('only what is sent changes; the event and the audit log name it with its old values', async () => {
    const one = await make({ type: 'demo', notes: 'Old' })
    clock.advance(1000)
    const moved = { start_at: '2026-12-02T10:00:00.000Z', end_at: '2026-12-02T11:00:00.000Z' }
    const changed = await put(one.id, { ...moved, notes: '', title: 'Demo' })
    assert.deepEqual(changed, { ...one, ...moved, notes: null, updated_at: now() })
    const previous = { start_at, end_at, notes: 'Old' }
    assert.deepEqual((await eventsOf(one.id)).slice(1), [
      {
        event: 'appointment.updated',
        data: changed,
        changed_fields: ['start_at', 'end_at', 'notes'],
        previous,
      },
    ])
    assert.deepEqual((await entriesOf(one.id)).slice(1), [
      { action: 'updated', before: previous, after: { ...moved, notes: null } },
    ])
  })

  test('a PUT of the answer of GET changes nothing, without an event', async () => {
    const one = await make({ contact_id: (await contact()).id, booking_page_id: (await page()).id })
    clock.advance(1000)
    for (const body of [one, {}, { start_at: '2026-12-01T11:00:00+01:00' }, { status: 'cancelled' }])
      assert.deepEqual(await put(one.id, body), one)
    assert.equal((await eventsOf(one.id)).length, 1)
    assert.equal((await entriesOf(one.id)).length, 1)
  })

  test('the times are judged as they will be, whichever of them is sent', async () => {
    const { id } = await make()
    assert.deepEqual(await refusedFields('PUT', `${path}/${id}`, { start_at: end_at }), {
      end_at: 'before_start',
    })
    assert.deepEqual(await refusedFields('PUT', `${path}/${id}`, { end_at: '2026-12-01T09:00:00Z' }), {
      end_at: 'before_start',
    })
    assert.deepEqual(await refusedFields('PUT', `${path}/${id}`, { start_at: null, title: null }), {
      start_at: 'required',
      title: 'required',
    })
    assert.equal((await put(id, { end_at: '2026-12-01T10:00:00.001Z' })).end_at, '2026-12-01T10:00:00.001Z')
  })

  test('If-Match that is out of date changes nothing, and cancels nothing', async () => {
    const { id } = await make()
    const etag = { 'if-match': (await call('GET', `${path}/${id}`)).headers.get('etag') ?? '' }
    clock.advance(1000)
    assert.equal((await call('PUT', `${path}/${id}`, { title: 'New' }, etag)).status, 200)
    refused(await call('PUT', `${path}/${id}`, { title: 'Newer' }, etag), 412, 'precondition_failed')
    refused(await call('POST', `${path}/${id}/cancel`, {}, etag), 412, 'precondition_failed')
    assert.deepEqual([(await read(id)).title, (await read(id)).status], ['New', 'scheduled'])
  })
})

describe('cancel', () => {
  test('it answers 200 with the detail view, with one event and one audit entry', async () => {
    const one = await make()
    clock.advance(1000)
    const reply = await call('POST', `${path}/${one.id}/cancel`, { reason: ' Customer is ill ' })
    assert.equal(reply.status, 200)
    const cancel_reason = 'Customer is ill'
    assert.deepEqual(reply.body.data, { ...one, status: 'cancelled', cancel_reason, updated_at: now() })
    assert.equal((await call('GET', `${path}/${one.id}`)).text, reply.text)
    assert.deepEqual((await eventsOf(one.id)).slice(1), [
      {
        event: 'appointment.cancelled',
        data: reply.body.data,
        changed_fields: undefined,
        previous: undefined,
      },
    ])
    assert.deepEqual((await entriesOf(one.id)).slice(1), [
      {
        action: 'cancelled',
        before: { status: 'scheduled', cancel_reason: null },
        after: { status: 'cancelled', cancel_reason },
      },
    ])
  })

  test('a second time it answers 200 and changes nothing, the reason neither', async () => {
    const { id } = await make()
    const { text } = await call('POST', `${path}/${id}/cancel`)
    clock.advance(1000)
    for (const body of [undefined, {}, { reason: 'Late' }])
      assert.equal((await call('POST', `${path}/${id}/cancel`, body)).text, text)
    assert.equal((await eventsOf(id)).length, 2)
    assert.equal((await entriesOf(id)).length, 2)
  })

  test('of many concurrent cancellations, one emits an event', async () => {
    const { id } = await make()
    const replies = await Promise.all(Array.from({ length: 20 }, () => call('POST', `${path}/${id}/cancel`)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      replies.map(() => 200),
    )
    assert.equal((await eventsOf(id)).length, 2)
  })

  test('it takes the reason alone: what else could be meant is unknown, not lost', async () => {
    const { id } = await make()
    const sent = { reason: 'x'.repeat(256), cancel_reason: 'Ill', notes: 'Ill', status: 'cancelled' }
    assert.deepEqual(await refusedFields('POST', `${path}/${id}/cancel`, sent), {
      reason: 'too_long',
      cancel_reason: 'unknown_field',
      notes: 'unknown_field',
    })
    refused(await call('POST', `${path}/999999/cancel`, sent), 404, 'not_found')
  })

  test('a cancelled one can still be edited and moved, and stays cancelled', async () => {
    const { id } = await make()
    await ok('POST', `${path}/${id}/cancel`, { reason: 'Ill' })
    const moved = await put(id, { notes: 'Call again', end_at: '2026-12-01T12:00:00Z' })
    assert.deepEqual([moved.status, moved.cancel_reason], ['cancelled', 'Ill'])
    assert.equal((await eventsOf(id)).at(-1)?.event, 'appointment.updated')
  })
})

describe('trash', () => {
  test('deleting a scheduled one is appointment.cancelled with its last view; restoring gives the exact earlier state', async () => {
    const one = await make({ contact_id: (await contact()).id, booking_page_id: (await page()).id })
    clock.advance(1000)
    const deleted = await call('DELETE', `${path}/${one.id}`)
    assert.deepEqual(deleted.body, { success: true, message: 'The appointment was deleted.' })
    refused(await call('GET', `${path}/${one.id}`), 404, 'not_found')
    refused(await call('DELETE', `${path}/${one.id}`), 404, 'not_found')
    refused(await call('POST', `${path}/${one.id}/cancel`), 404, 'not_found')
    const deleted_at = now()
    clock.advance(1000)
    const back = await ok('POST', `${path}/${one.id}/restore`)
    assert.deepEqual({ ...back, updated_at: one.updated_at }, one)
    assert.deepEqual((await eventsOf(one.id)).slice(1), [
      {
        event: 'appointment.cancelled',
        data: { ...one, status: 'cancelled' },
        changed_fields: undefined,
        previous: undefined,
      },
      {
        event: 'appointment.updated',
        data: back,
        changed_fields: ['deleted_at'],
        previous: { deleted_at },
      },
    ])
    assert.deepEqual(
      (await entriesOf(one.id)).map(({ action }) => action),
      ['created', 'deleted', 'restored'],
    )
  })

  test('deleting a cancelled one tells nobody a second time', async () => {
    const { id } = await make()
    await ok('POST', `${path}/${id}/cancel`)
    await ok('DELETE', `${path}/${id}`)
    assert.deepEqual(
      (await eventsOf(id)).map(({ event }) => event),
      ['appointment.created', 'appointment.cancelled'],
    )
  })

  test('a reference to a record in the trash reads null, may be put back so, and shows again with the record', async () => {
    const fields = {
      contact_id: (await contact()).id,
      booking_page_id: (await page()).id,
      deal_id: (await deal()).id,
    }
    const one = await make(fields)
    await ok('DELETE', `/api/v1/contacts/${fields.contact_id}`)
    await ok('DELETE', `/api/v1/booking-pages/${fields.booking_page_id}`)
    await ok('DELETE', `/api/v1/deals/${fields.deal_id}`)
    const shown = await read(one.id)
    assert.deepEqual(shown, { ...one, contact_id: null, booking_page_id: null, deal_id: null })
    assert.deepEqual(await put(one.id, shown), shown)
    assert.deepEqual(await refusedFields('PUT', `${path}/${one.id}`, fields), {
      contact_id: 'not_found',
      booking_page_id: 'not_found',
      deal_id: 'not_found',
    })
    await ok('POST', `/api/v1/contacts/${fields.contact_id}/restore`)
    await ok('POST', `/api/v1/booking-pages/${fields.booking_page_id}/restore`)
    await ok('POST', `/api/v1/deals/${fields.deal_id}/restore`)
    assert.deepEqual(await read(one.id), one)
  })
})

describe('guests', () => {
  test('are contacts, each once, at most 50, shown in the order of their ids', async () => {
    const [ada, bea, cy] = [(await contact()).id, (await contact()).id, (await contact()).id]
    const one = await make({ guest_ids: [cy, ada, cy] })
    assert.deepEqual(one.guest_ids, [ada, cy])
    clock.advance(1000)
    assert.deepEqual(await put(one.id, { guest_ids: [cy, ada, ada] }), one)
    const changed = await put(one.id, { guest_ids: [bea, ada] })
    assert.deepEqual(changed, { ...one, guest_ids: [ada, bea], updated_at: now() })
    assert.deepEqual((await eventsOf(one.id)).slice(1), [
      {
        event: 'appointment.updated',
        data: changed,
        changed_fields: ['guest_ids'],
        previous: { guest_ids: [ada, cy] },
      },
    ])
    assert.deepEqual((await entriesOf(one.id)).slice(1), [
      { action: 'updated', before: { guest_ids: [ada, cy] }, after: { guest_ids: [ada, bea] } },
    ])
    for (const [guest_ids, found] of [
      [[ada, 999_999], { 'guest_ids.1': 'not_found' }],
      [Array.from({ length: 51 }, (_, n) => n + 1), { guest_ids: 'too_many' }],
      [[ada, 'x', 0], { 'guest_ids.1': 'invalid_type', 'guest_ids.2': 'out_of_range' }],
      [ada, { guest_ids: 'invalid_type' }],
    ] as const) {
      assert.deepEqual(
        await refusedFields('POST', path, { title: 'Demo', start_at, end_at, guest_ids }),
        found,
      )
      assert.deepEqual(await refusedFields('PUT', `${path}/${one.id}`, { guest_ids }), found)
    }
    assert.deepEqual(await read(one.id), changed)
    assert.deepEqual((await put(one.id, { guest_ids: null })).guest_ids, [])
  })

  test('in the trash count, so that PUT takes what GET answered when they are back, also after a merge', async () => {
    const items = Array.from({ length: 52 }, (_, n) => ({
      op: 'create',
      data: { first_name: 'Ada', last_name: `${n}` },
    }))
    const made = await ok('POST', '/api/v1/contacts/batch', { items })
    const ids: number[] = made.map(({ id }: { id: number }) => id)
    const [first, second, ...others] = ids.slice(0, 50)
    const [other, survivor] = ids.slice(50)
    const { id } = await make({ guest_ids: [first, second, ...others] })
    const too_many = { guest_ids: 'too_many' }
    await ok('DELETE', `/api/v1/contacts/${first}`)
    assert.deepEqual(
      await refusedFields('PUT', `${path}/${id}`, { guest_ids: [second, ...others, other] }),
      too_many,
    )
    assert.equal((await put(id, { guest_ids: [...others, other] })).guest_ids.length, 49)
    await ok('POST', `/api/v1/contacts/${first}/restore`)
    const all = await read(id)
    assert.equal(all.guest_ids.length, 50)
    assert.deepEqual(await put(id, all), all)
    // The undo of a merge, too, gives places back.
    await ok('POST', `/api/v1/contacts/${first}/merge`, { from_ids: [other] })
    const more = { guest_ids: [first, survivor, ...others] }
    assert.deepEqual(await refusedFields('PUT', `${path}/${id}`, more), too_many)
  })

  test('in the trash are left out, stay through a change of the others, and come back; who is erased is no guest', async () => {
    const [ada, bea, cy] = [(await contact()).id, (await contact()).id, (await contact()).id]
    const one = await make({ guest_ids: [ada, bea] })
    await ok('DELETE', `/api/v1/contacts/${bea}`)
    assert.deepEqual((await read(one.id)).guest_ids, [ada])
    assert.deepEqual((await put(one.id, { guest_ids: [cy] })).guest_ids, [cy])
    assert.deepEqual(await refusedFields('PUT', `${path}/${one.id}`, { guest_ids: [bea] }), {
      'guest_ids.0': 'not_found',
    })
    await ok('POST', `/api/v1/contacts/${bea}/restore`)
    assert.deepEqual((await read(one.id)).guest_ids, [bea, cy])
    await ok('DELETE', `/api/v1/contacts/${cy}`)
    await ok('DELETE', `/api/v1/trash/contacts/${cy}`)
    assert.deepEqual((await read(one.id)).guest_ids, [bea])
    assert.deepEqual(
      await stored.rows('SELECT contact_id FROM appointment_guests WHERE appointment_id = ?', one.id),
      [{ contact_id: bea }],
    )
    await ok('DELETE', `${path}/${one.id}`)
    await ok('DELETE', `/api/v1/trash/appointments/${one.id}`)
    assert.deepEqual(
      await stored.rows('SELECT id FROM appointment_guests WHERE appointment_id = ?', one.id),
      [],
    )
  })
})

test("another workspace's appointments, contacts, deals and pages do not exist", async () => {
  const other = await newWorkspace(rapport)
  const { id } = await make()
  const fields = {
    contact_id: (await contact()).id,
    booking_page_id: (await page()).id,
    deal_id: (await deal()).id,
    guest_ids: [(await contact()).id],
  }
  for (const [method, suffix] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/cancel'],
    ['POST', '/restore'],
  ] as const)
    refused(
      await other(method, `${path}/${id}${suffix}`, method === 'PUT' ? {} : undefined),
      404,
      'not_found',
    )
  assert.deepEqual(problems(await other('POST', path, { title: 'Demo', start_at, end_at, ...fields })), {
    contact_id: 'not_found',
    booking_page_id: 'not_found',
    deal_id: 'not_found',
    'guest_ids.0': 'not_found',
  })
  assert.equal((await other('GET', path)).body.meta.total, 0)
})

test('a POST repeated with its Idempotency-Key makes one appointment, fifty times at once', async () => {
  const body = { title: 'Demo', start_at, end_at, booking_page_id: (await page()).id }
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => call('POST', path, body, { 'idempotency-key': 'one' })),
  )
  const made = replies.filter(({ status }) => status === 201)
  assert.ok(made.length >= 1)
  assert.equal(new Set(made.map((reply) => reply.body.data.id)).size, 1)
  for (const reply of replies) if (reply.status !== 201) refused(reply, 409, 'conflict')
})
