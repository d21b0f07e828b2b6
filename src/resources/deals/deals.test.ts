import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { dealCalls } from '../../../test/deals.ts'
import { authorsOf, unset } from '../../../test/envelope.ts'
import { type Reply, turnableClock, useRapport } from '../../../test/harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)

const { path, call, deal, contact, company, read, put, changeStage, refused } = dealCalls(rapport)

describe('views', () => {
  test('a deal with a name alone is a new lead of 10 percent, in exactly the detail view', async () => {
    const reply = await call('POST', path, { name: '  Relaunch ' })
    assert.equal(reply.status, 201)
    const { id, ...rest } = reply.body.data
    assert.equal(reply.headers.get('location'), `${path}/${id}`)
    const now = new Date(clock.now()).toISOString()
    assert.deepEqual(rest, {
      name: 'Relaunch',
      value: null,
      probability: 10,
      stage: 'new_lead',
      contact_id: null,
      company_id: null,
      expected_close_date: null,
      status: 'open',
      priority: null,
      source: null,
      lost_reason: null,
      closed_at: null,
      created_at: now,
      updated_at: now,
      contact: null,
      company: null,
      ...unset,
      ...authorsOf(rest),
    })
    const got = await call('GET', `${path}/${id}`)
    assert.deepEqual(got.body, reply.body)
    assert.equal(got.headers.get('etag'), reply.headers.get('etag'))
  })

  test('the list shows exactly the list view, the detail embeds contact and company by their names', async () => {
    const { id: contact_id } = await contact()
    const { id: company_id } = await company()
    const all = {
      name: 'Relaunch',
      value: 12500.5,
      probability: 55,
      stage: 'demo',
      contact_id,
      company_id,
      expected_close_date: '2028-02-29',
    }
    const detail = await deal({ ...all, priority: 'high', source: 'website' })
    assert.deepEqual(detail.contact, { id: contact_id, first_name: 'Ada', last_name: 'Okafor' })
    assert.deepEqual(detail.company, { id: company_id, name: 'Acme' })
    assert.equal(detail.priority, 'high')
    assert.equal(detail.source, 'website')
    const list = await call('GET', `${path}?contact_id=${contact_id}`)
    assert.deepEqual(list.body.data, [{ id: detail.id, ...all, status: 'open', owner_id: null }])
  })

  test('a value is echoed exactly, in the detail, in the list and in the event', async () => {
    const { id: company_id } = await company()
    for (const value of ['99999999999.9999', '0.0001', '0.3', '1234567.8901', '0', '100']) {
      const reply = await call('POST', path, `{"name":"V","value":${value},"company_id":${company_id}}`)
      assert.equal(reply.status, 201, reply.text)
      const { id } = reply.body.data
      const list = await call('GET', `${path}?per_page=1&company_id=${company_id}`)
      const [{ payload } = { payload: '' }] = await stored.rows(
        'SELECT payload FROM events WHERE record_id = ? AND event = ?',
        id,
        'deal.created',
      )
      for (const text of [reply.text, list.text, String(payload)])
        assert.match(text, new RegExp(`"value":${value},`))
    }
    for (const zero of ['-0', '-0.0', '0e5']) {
      const reply = await call('POST', path, `{"name":"V","value":${zero},"probability":${zero}}`)
      assert.match(reply.text, /"value":0,"probability":0,/)
    }
  })
})

describe('bodies', () => {
  test('one 422 names every failing field: types, ranges, references and stage rules at once', async () => {
    const bad = {
      name: ' ',
      value: 0.30000000000000004,
      probability: 50.5,
      stage: 'sold',
      contact_id: 999_999,
      company_id: '7',
      expected_close_date: '2027-02-29',
      priority: 'x'.repeat(65),
      source: 'x'.repeat(256),
      lost_reason: 'Price',
      vlaue: 1,
    }
    const most = [
      'company_id invalid_type',
      'contact_id not_found',
      'expected_close_date invalid_format',
      'name required',
      'priority too_long',
      'probability invalid_type',
      'source too_long',
      'stage unknown_value',
      'value too_precise',
      'vlaue unknown_field',
    ]
    const reply = await refused('POST', path, bad, [...most, 'lost_reason not_allowed'].sort())
    const { message } = reply.body.error.fields.find((one: { field: string }) => one.field === 'stage')
    assert.match(
      message,
      /new_lead, qualification, demo, proposal, negotiation, verbal_commitment, won, lost\.$/,
    )
    const { id } = await deal()
    await refused('PUT', `${path}/${id}`, bad, most)
    await refused('POST', `${path}/${id}/change-stage`, { stage: 'lost', probability: 101 }, [
      'lost_reason required',
      'probability out_of_range',
    ])
    await refused('PUT', `${path}/${id}`, { stage: 'lost', value: -1, contact_id: 999_999 }, [
      'contact_id not_found',
      'lost_reason required',
      'value out_of_range',
    ])
  })

  test('values out of range, too precise or of another type are refused, and nothing is coerced', async () => {
    const { id } = await deal({ value: 5 })
    for (const value of [
      '-0.0001',
      '100000000000',
      '1e400',
      '0.00001',
      '99999999999.99996',
      '"5"',
      'true',
      '[5]',
    ]) {
      const reply = await call('PUT', `${path}/${id}`, `{"value":${value}}`)
      assert.equal(reply.status, 422, value)
      assert.equal(reply.body.error.fields[0].field, 'value')
    }
    for (const probability of [-1, 101, 0.5, '50', true]) {
      const reply = await call('PUT', `${path}/${id}`, { probability })
      assert.equal(reply.status, 422, String(probability))
    }
    assert.equal((await read(id)).value, 5)
  })

  test('longest texts fit, and a longer one is refused', async () => {
    const longest = { name: '🙂'.repeat(255), priority: 'x'.repeat(64), source: 'x'.repeat(255) }
    const { id, ...rest } = await deal(longest)
    assert.deepEqual({ name: rest.name, priority: rest.priority, source: rest.source }, longest)
    await refused('PUT', `${path}/${id}`, { name: `${longest.name}x` }, ['name too_long'])
    await refused('PUT', `${path}/${id}`, { name: null }, ['name required'])
    await refused('POST', path, {}, ['name required'])
  })

  test('null and "" clear optional fields, and stage null is the default on creation only', async () => {
    const { id: contact_id } = await contact()
    const full = {
      value: 5,
      probability: 33,
      contact_id,
      expected_close_date: '2027-01-31',
      priority: 'high',
      source: 'web',
    }
    const { id } = await deal({ ...full, stage: null })
    const empty = {
      value: null,
      probability: null,
      contact_id: null,
      expected_close_date: '',
      priority: ' ',
      source: null,
    }
    const cleared = await put(id, empty)
    assert.equal(cleared.stage, 'new_lead')
    for (const name of ['value', 'contact_id', 'contact', 'expected_close_date', 'priority', 'source'])
      assert.equal(cleared[name], null, name)
    assert.equal(cleared.probability, 10)
    await refused('PUT', `${path}/${id}`, { stage: null }, ['stage required'])
    await refused('PUT', `${path}/${id}`, { stage: '' }, ['stage required'])
  })

  test('read-only fields are accepted and ignored, on creation, PUT and change-stage', async () => {
    const read_only = {
      id: 999_999,
      status: 'won',
      closed_at: 'never',
      created_at: 5,
      updated_at: null,
      contact: { id: 1 },
      company: [],
    }
    const fresh = await deal(read_only)
    assert.equal(fresh.status, 'open')
    assert.equal(fresh.closed_at, null)
    assert.notEqual(fresh.id, 999_999)
    assert.deepEqual(await put(fresh.id, read_only), fresh)
    assert.deepEqual(await changeStage(fresh.id, { ...read_only, stage: 'new_lead' }), fresh)
    await refused('POST', `${path}/${fresh.id}/change-stage`, { stage: 'won', name: 'X' }, [
      'name unknown_field',
    ])
  })

  test('a reason is not accepted on creation, except null', async () => {
    await refused('POST', path, { name: 'X', stage: 'lost', lost_reason: 'Price' }, [
      'lost_reason not_allowed',
    ])
    await refused('POST', path, { name: 'X', lost_reason: 5 }, ['lost_reason invalid_type'])
    const lost = await deal({ stage: 'lost', lost_reason: null })
    assert.deepEqual([lost.status, lost.probability, lost.lost_reason], ['lost', 0, null])
    assert.equal(lost.closed_at, lost.created_at)
  })
})

describe('references', () => {
  test('unknown ids, ids in the trash and ids of another workspace are the same: not found', async () => {
    const trashed = await contact()
    await call('DELETE', `/api/v1/contacts/${trashed.id}`)
    const { id: company_id } = await company()
    const stranger = await newWorkspace(rapport)
    const foreign = await stranger('POST', path, { name: 'X', company_id })
    const unknown = await stranger('POST', path, { name: 'X', company_id: 999_999 })
    const told = (reply: Reply, id: number) => [
      reply.status,
      JSON.stringify(reply.body.error.fields).replaceAll(String(id), '#'),
    ]
    assert.deepEqual(told(foreign, company_id), told(unknown, 999_999))
    await refused('POST', path, { name: 'X', contact_id: trashed.id }, ['contact_id not_found'])
    for (const contact_id of [0, -1, 1.5, Number.MAX_SAFE_INTEGER + 1])
      assert.equal((await call('POST', path, { name: 'X', contact_id })).status, 422)
  })

  test("another workspace's deal does not exist, for no operation", async () => {
    const { id } = await deal()
    const stranger = await newWorkspace(rapport)
    for (const [method, url, body] of [
      ['GET', `${path}/${id}`],
      ['PUT', `${path}/${id}`, { name: 'Mine' }],
      ['POST', `${path}/${id}/change-stage`, { stage: 'won' }],
      ['POST', `${path}/${id}/restore`],
      ['DELETE', `${path}/${id}`],
    ] as const)
      assert.equal((await stranger(method, url, body)).status, 404, method)
    assert.equal((await stranger('GET', path)).body.meta.total, 0)
    assert.equal((await read(id)).name, 'Relaunch')
  })

  test('a reference into the trash reads null, survives a PUT of what GET showed, and comes back', async () => {
    const { id: contact_id } = await contact()
    const { id: company_id } = await company()
    const fresh = await deal({ contact_id, company_id })
    await call('DELETE', `/api/v1/contacts/${contact_id}`)
    await call('DELETE', `/api/v1/companies/${company_id}`)
    const shown = await read(fresh.id)
    assert.deepEqual(
      [shown.contact_id, shown.contact, shown.company_id, shown.company],
      [null, null, null, null],
    )
    const [listed] = (await call('GET', `${path}?per_page=1`)).body.data
    assert.deepEqual([listed.id, listed.contact_id, listed.company_id], [fresh.id, null, null])
    for (const filter of [`contact_id=${contact_id}`, `company_id=${company_id}`, 'contact_id=999999']) {
      const list = await call('GET', `${path}?${filter}`)
      assert.deepEqual([list.body.data, list.body.meta.total], [[], 0])
    }
    await put(fresh.id, { ...shown, name: 'Renamed' })
    await changeStage(fresh.id, { stage: 'demo' })
    await call('POST', `/api/v1/contacts/${contact_id}/restore`)
    await call('POST', `/api/v1/companies/${company_id}/restore`)
    const back = await read(fresh.id)
    assert.deepEqual(back.contact, fresh.contact)
    assert.deepEqual(back.company, fresh.company)
    for (const filter of [`contact_id=${contact_id}`, `company_id=${company_id}`])
      assert.equal((await call('GET', `${path}?${filter}`)).body.meta.total, 1)
  })

  test('another reference replaces one into the trash, and null does not', async () => {
    const [first, second] = [await company(), await company()]
    const { id } = await deal({ company_id: first.id })
    await call('DELETE', `/api/v1/companies/${first.id}`)
    assert.equal((await put(id, { company_id: null })).company_id, null)
    assert.equal((await put(id, { company_id: second.id })).company.id, second.id)
    await call('POST', `/api/v1/companies/${first.id}/restore`)
    assert.equal((await call('GET', `${path}?company_id=${first.id}`)).body.meta.total, 0)
    assert.equal((await call('GET', `${path}?company_id=${second.id}`)).body.meta.total, 1)
  })
})
