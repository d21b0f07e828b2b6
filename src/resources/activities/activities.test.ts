import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { authorsOf, dataOf, problems, refused, unset } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/activities'
const now = () => new Date(clock.now()).toISOString()
const all = {
  type: 'call',
  subject: 'Talk about the offer',
  body: 'Ask for the\n\nbudget.',
  due_at: '2026-11-24T09:00:00.000Z',
  completed_at: null,
  outcome: 'Nobody there',
}
const empty = { body: null, due_at: null, completed_at: null, outcome: null }
const unlinked = { contact_id: null, company_id: null, deal_id: null }

const made = async (resource: string, body: object) =>
  dataOf(await call('POST', `/api/v1/${resource}`, body), 201)
const make = (body: object = {}) => made('activities', { subject: 'Call Ada', ...body })
const put = (id: number, body: unknown) => call('PUT', `${path}/${id}`, body)
const read = async (id: number) => (await call('GET', `${path}/${id}`)).body.data
const names = async (id: number) => (await stored.events('activity', id)).map(({ event }) => event)
const audit = (id: number) => stored.audit('activities', id)
async function links() {
  const contact_id = (await made('contacts', { first_name: 'Ada', last_name: 'Okafor' })).id
  const company_id = (await made('companies', { name: 'Acme' })).id
  const deal_id = (await made('deals', { name: 'Relaunch' })).id
  return { contact_id, company_id, deal_id }
}
const at = {
  contact_id: '/api/v1/contacts',
  company_id: '/api/v1/companies',
  deal_id: '/api/v1/deals',
} as const
const link_names = ['contact_id', 'company_id', 'deal_id'] as const

describe('creating and reading', () => {
  test('POST answers 201 with the detail view, Location and ETag; GET shows the same', async () => {
    const linked = { ...all, ...(await links()) }
    const reply = await call('POST', path, linked)
    assert.equal(reply.status, 201, reply.text)
    const { id } = reply.body.data
    const authors = authorsOf(reply.body.data)
    assert.deepEqual(reply.body.data, {
      id,
      ...linked,
      ...unset,
      ...authors,
      created_at: now(),
      updated_at: now(),
    })
    assert.equal(reply.headers.get('location'), `${path}/${id}`)
    const shown = await call('GET', `${path}/${id}`)
    assert.equal(shown.text, reply.text)
    assert.equal(shown.headers.get('etag'), reply.headers.get('etag'))
  })

  test('a subject alone is an open task without a due date', async () => {
    const { id, ...rest } = await make({ subject: '  Call Ada ' })
    const added = { ...unset, ...authorsOf(rest) }
    const dates = { created_at: now(), updated_at: now() }
    assert.deepEqual(rest, { type: 'task', subject: 'Call Ada', ...empty, ...unlinked, ...dates, ...added })
    for (const type of [null, '']) assert.equal((await make({ type })).type, 'task')
    assert.ok(Number.isSafeInteger(id) && id > 0)
  })

  test('every type is taken; an unknown one is 422 and lists them', async () => {
    for (const type of ['call', 'email', 'meeting', 'task', 'other'])
      assert.equal((await make({ type })).type, type)
    const { id } = await make()
    for (const reply of [
      await call('POST', path, { subject: 'A', type: 'lunch' }),
      await put(id, { type: 'Call' }),
    ]) {
      assert.deepEqual(problems(reply), { type: 'unknown_value' })
      assert.match(reply.body.error.fields[0].message, /call, email, meeting, task, other\./)
    }
  })

  test('a subject is neither absent on create, nor null, nor blank', async () => {
    const { id } = await make()
    assert.deepEqual(problems(await call('POST', path, {})), { subject: 'required' })
    for (const subject of [null, '', ' \n ']) {
      assert.deepEqual(problems(await call('POST', path, { subject })), { subject: 'required' })
      assert.deepEqual(problems(await put(id, { subject })), { subject: 'required' })
    }
  })

  test('limits: subject and outcome 255 characters, body 65,535', async () => {
    const { id } = await make()
    for (const [field, limit] of Object.entries({ subject: 255, outcome: 255, body: 65_535 })) {
      const text = '😀'.repeat(limit)
      assert.equal((await put(id, { [field]: text })).body.data[field], text)
      assert.deepEqual(problems(await put(id, { [field]: `${text}x` })), { [field]: 'too_long' })
    }
    assert.deepEqual(problems(await call('POST', `${path}/${id}/complete`, { outcome: 'x'.repeat(256) })), {
      outcome: 'too_long',
    })
    assert.equal((await read(id)).completed_at, null)
  })

  test('times are taken with any offset, and shown in UTC with milliseconds', async () => {
    for (const [sent, shown] of [
      ['2026-11-24T10:00:00+01:00', '2026-11-24T09:00:00.000Z'],
      ['2026-11-24T09:00:00.5Z', '2026-11-24T09:00:00.500Z'],
      ['2026-11-23T23:00:00.123456-10:00', '2026-11-24T09:00:00.123Z'],
    ]) {
      const { id, due_at, completed_at } = await make({ due_at: sent, completed_at: sent })
      assert.deepEqual([due_at, completed_at], [shown, shown])
      // The same time in another form changes nothing.
      clock.advance(1000)
      const { updated_at } = (await put(id, { due_at: sent, completed_at: shown })).body.data
      assert.equal(updated_at, (await read(id)).created_at)
    }
    for (const due_at of ['2026-11-24', 'tomorrow', '2026-02-30T09:00:00Z', '2026-11-24T09:00:00'])
      assert.deepEqual(problems(await call('POST', path, { subject: 'A', due_at })), {
        due_at: 'invalid_format',
      })
    assert.deepEqual(problems(await call('POST', path, { subject: 'A', completed_at: true })), {
      completed_at: 'invalid_type',
    })
  })

  test('one 422 has all failing fields and all invalid references', async () => {
    const body = { subject: '', type: 'x', due_at: 5, deal_id: 999_999, contact_id: '3', status: 'open' }
    const expected = {
      subject: 'required',
      type: 'unknown_value',
      due_at: 'invalid_type',
      deal_id: 'not_found',
      contact_id: 'invalid_type',
      status: 'unknown_field',
    }
    assert.deepEqual(problems(await call('POST', path, body)), expected)
    const { id } = await make()
    assert.deepEqual(problems(await put(id, body)), expected)
    refused(await put(999_999, body), 404, 'not_found')
  })
})

describe('changing', () => {
  test('only what is sent changes; PATCH does the same; null and "" clear what is optional', async () => {
    for (const method of ['PUT', 'PATCH']) {
      const one = await make({ ...all, ...(await links()) })
      clock.advance(1000)
      const reply = await call(method, `${path}/${one.id}`, { subject: 'New', type: 'email' })
      assert.deepEqual(reply.body.data, { ...one, subject: 'New', type: 'email', updated_at: now() })
      const cleared = { body: '', outcome: ' ', due_at: null, contact_id: null, company_id: null }
      assert.deepEqual((await call(method, `${path}/${one.id}`, cleared)).body.data, {
        ...one,
        ...empty,
        ...unlinked,
        deal_id: one.deal_id,
        subject: 'New',
        type: 'email',
        updated_at: now(),
      })
      assert.deepEqual(problems(await put(one.id, { type: null })), { type: 'required' })
    }
  })

  test('a PUT of the answer of GET changes nothing, without an event or an audit entry', async () => {
    const { id } = await make({ ...all, ...(await links()), completed_at: all.due_at })
    clock.advance(1000)
    const { text, body, headers } = await call('GET', `${path}/${id}`)
    for (const back of [body.data, {}, { id: 5, created_at: 'x' }]) {
      const reply = await put(id, back)
      assert.equal(reply.text, text)
      assert.equal(reply.headers.get('etag'), headers.get('etag'))
    }
    assert.deepEqual(await names(id), ['activity.created', 'activity.completed'])
    assert.equal((await audit(id)).length, 1)
  })

  test('a change is no event, and an audit entry with both sides', async () => {
    const { id } = await make({ due_at: all.due_at })
    await put(id, { subject: 'New', due_at: null, outcome: 'Later' })
    assert.deepEqual(await names(id), ['activity.created'])
    const [created, updated, ...more] = await audit(id)
    const { due_at } = all
    assert.deepEqual(created, {
      action: 'created',
      before: null,
      after: { type: 'task', subject: 'Call Ada', due_at, tags: [], custom_fields: {} },
    })
    assert.deepEqual(updated, {
      action: 'updated',
      before: { subject: 'Call Ada', due_at, outcome: null },
      after: { subject: 'New', due_at: null, outcome: 'Later' },
    })
    assert.deepEqual(more, [])
  })

  test('a refused body leaves no record, event, audit entry or total behind', async () => {
    const { id } = await make()
    const count = () =>
      stored.rows(`SELECT (SELECT count(*) FROM activities) AS a, (SELECT count(*) FROM events) AS e,
        (SELECT count(*) FROM audit_log) AS l, (SELECT sum(n) FROM record_counts) AS n`)
    const before = [await count(), await read(id)]
    problems(await call('POST', path, { subject: 'A', completed_at: now(), deal_id: 999_999 }))
    problems(await put(id, { completed_at: now(), deal_id: 999_999 }))
    problems(await call('POST', `${path}/${id}/complete`, { outcome: 5 }))
    problems(await call('POST', `${path}/${id}/reopen`, { outcome: 'x' }))
    assert.deepEqual([await count(), await read(id)], before)
  })
})

describe('links', () => {
  test('each must name a live record: unknown, deleted and foreign ids are 422 not_found', async () => {
    const { id } = await make()
    const foreign = await newWorkspace(rapport)
    const bodies = {
      contact_id: { first_name: 'E', last_name: 'O' },
      company_id: { name: 'E' },
      deal_id: { name: 'E' },
    }
    const deleted = await links()
    for (const link of link_names) {
      await call('DELETE', `${at[link]}/${deleted[link]}`)
      const other = (await foreign('POST', at[link], bodies[link])).body.data.id
      for (const target of [999_999, deleted[link], other]) {
        assert.deepEqual(problems(await call('POST', path, { subject: 'A', [link]: target })), {
          [link]: 'not_found',
        })
        assert.deepEqual(problems(await put(id, { [link]: target })), { [link]: 'not_found' })
      }
    }
  })

  test('a link reads null while its target is in the trash, survives a PUT of that, and comes back', async () => {
    for (const link of link_names) {
      const one = await make({ ...all, ...(await links()) })
      const etag = (await call('GET', `${path}/${one.id}`)).headers.get('etag')
      await call('DELETE', `${at[link]}/${one[link]}`)
      const hidden = await call('GET', `${path}/${one.id}`)
      assert.deepEqual(hidden.body.data, { ...one, [link]: null })
      assert.notEqual(hidden.headers.get('etag'), etag)
      assert.equal((await put(one.id, hidden.body.data)).text, hidden.text)
      await call('POST', `${at[link]}/${one[link]}/restore`)
      assert.deepEqual(await read(one.id), one)
      assert.equal((await audit(one.id)).length, 1)
    }
  })
})

describe('the trash', () => {
  test('DELETE takes the activity away without an event; a second one is 404', async () => {
    const { id } = await make(all)
    const reply = await call('DELETE', `${path}/${id}`)
    assert.deepEqual(reply.body, { success: true, message: 'The activity was deleted.' })
    for (const [method, below] of [
      ['GET', ''],
      ['DELETE', ''],
      ['PUT', ''],
      ['POST', '/complete'],
      ['POST', '/reopen'],
    ])
      refused(
        await call(String(method), `${path}/${id}${below}`, method === 'GET' ? undefined : {}),
        404,
        'not_found',
      )
    assert.deepEqual(await names(id), ['activity.created'])
  })

  test('restoring gives back the exact state, without an event; both are in the audit log', async () => {
    const one = await make({ ...all, ...(await links()), completed_at: '2026-11-20T00:00:00.000Z' })
    const told = await names(one.id)
    clock.advance(1000)
    await call('DELETE', `${path}/${one.id}`)
    clock.advance(1000)
    const reply = await call('POST', `${path}/${one.id}/restore`)
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body.data, one)
    assert.equal((await call('GET', `${path}/${one.id}`)).text, reply.text)
    assert.deepEqual(await names(one.id), told)
    assert.deepEqual(
      (await audit(one.id)).map(({ action }) => action),
      ['created', 'deleted', 'restored'],
    )
    clock.advance(1000)
    assert.equal((await call('POST', `${path}/${one.id}/restore`)).text, reply.text)
    assert.equal((await audit(one.id)).length, 3)
  })
})
