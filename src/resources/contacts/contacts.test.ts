// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace, type StoredEvent, useStored } from '../../../test/database.ts'
import { authorsOf, dataOf, no_facts, problems } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/contacts'
const companies = '/api/v1/companies'
const name = { first_name: 'Ana', last_name: 'Ruiz' }
const now = () => new Date(clock.now()).toISOString()

const done = async (method: string, at: string, body?: unknown) => dataOf(await call(method, at, body))
const made = (body: object = {}) => done('POST', path, { ...name, ...body })
const madeCompany = (body: object = {}) => done('POST', companies, { name: 'Acme', ...body })
const events = (id: number) => stored.events('contact', id)
const names = async (id: number) => (await events(id)).map(({ event }) => event)

describe('views', () => {
  test('a contact with names alone has every field of the detail view, empty ones as null, {} and []', async () => {
    const reply = await call('POST', path, name)
    assert.equal(reply.status, 201)
    const { id } = reply.body.data
    assert.deepEqual(reply.body, {
      success: true,
      data: {
        id,
        ...name,
        email: null,
        phone: null,
        mobile: null,
        company_id: null,
        company: null,
        title: null,
        stage: null,
        source: null,
        custom_fields: {},
        tags: [],
        created_at: now(),
        updated_at: now(),
        owner_id: null,
        ...no_facts,
        ...authorsOf(reply.body.data),
      },
    })
    assert.equal(reply.headers.get('location'), `${path}/${id}`)
    const read = await call('GET', `${path}/${id}`)
    assert.deepEqual(read.body, reply.body)
    assert.equal(read.headers.get('etag'), reply.headers.get('etag'))
  })

  test('the list view has exactly its fields, and only the detail view adds the website of the company', async () => {
    const company = await madeCompany({ website: 'https://acme.example' })
    const values = {
      ...name,
      email: 'Ana.Ruiz@acme.example',
      phone: '+34 910 55 01 42',
      mobile: '+34 600 55 01 42',
      company_id: company.id,
      title: 'Head of Purchasing',
      stage: 'lead',
      source: 'trade fair',
      custom_fields: { region: 'EMEA', seats: 40, vip: true },
      tags: ['partner', 'réseau'],
    }
    const detail = await made(values)
    const { id, created_at } = detail
    const embedded = { id: company.id, name: 'Acme' }
    assert.deepEqual(detail, {
      id,
      ...values,
      company: { ...embedded, website: 'https://acme.example' },
      created_at,
      updated_at: created_at,
      owner_id: null,
      ...no_facts,
      ...authorsOf(detail),
    })
    const { body } = await call('GET', `${path}?company_id=${company.id}`)
    const { email, phone, company_id, stage } = values
    assert.deepEqual(body.data, [
      {
        id,
        ...name,
        email,
        phone,
        company_id,
        company: embedded,
        stage,
        created_at,
        owner_id: null,
        ...no_facts,
      },
    ])
  })

  test('an id that is unknown or no positive integer is 404', async () => {
    for (const id of ['999999', '0', '-1', '1.0', '1e0', 'x', '9007199254740993', '%20'])
      assert.equal((await call('GET', `${path}/${id}`)).status, 404, id)
  })
})

describe('changing', () => {
  test('PUT and PATCH change the sent fields alone, and updated_at', async () => {
    const contact = await made({ stage: 'lead', tags: ['x'] })
    clock.advance(1000)
    const put = await done('PUT', `${path}/${contact.id}`, { stage: ' customer ' })
    assert.deepEqual(put, { ...contact, stage: 'customer', updated_at: now() })
    clock.advance(1000)
    const patched = await done('PATCH', `${path}/${contact.id}`, { last_name: 'Ruiz Gil' })
    assert.deepEqual(patched, { ...put, last_name: 'Ruiz Gil', updated_at: now() })
  })

  test('a PUT that changes nothing answers the same bytes and writes no event', async () => {
    const company = await madeCompany()
    const { id } = await made({
      company_id: company.id,
      email: 'a@acme.example',
      custom_fields: { a: 1, z: 0 },
      tags: ['x', 'y'],
    })
    const shown = await call('GET', `${path}/${id}`)
    clock.advance(1000)
    const bodies = [
      shown.body.data,
      {},
      undefined,
      { first_name: ' Ana ', stage: '', phone: null },
      { custom_fields: { a: 1, unknown: null } },
      '{"custom_fields":{"z":-0}}',
      { tags: ['x', 'y', 'x'] },
    ]
    for (const body of bodies) {
      const reply = await call('PUT', `${path}/${id}`, body)
      assert.equal(reply.text, shown.text)
      assert.equal(reply.headers.get('etag'), shown.headers.get('etag'))
    }
    assert.deepEqual(await names(id), ['contact.created'])
  })

  test('two concurrent PUTs of different fields keep both', async () => {
    const { id } = await made({ custom_fields: { a: 1 } })
    await Promise.all([
      done('PUT', `${path}/${id}`, { stage: 'lead', custom_fields: { b: 2 } }),
      done('PUT', `${path}/${id}`, { title: 'Boss', custom_fields: { c: 3 } }),
    ])
    const { stage, title, custom_fields } = await done('GET', `${path}/${id}`)
    assert.deepEqual(
      { stage, title, custom_fields },
      {
        stage: 'lead',
        title: 'Boss',
        custom_fields: { a: 1, b: 2, c: 3 },
      },
    )
  })

  test('If-Match of an older state refuses PUT, DELETE and restore with 412, before 422', async () => {
    const { id } = await made()
    const at = `${path}/${id}`
    const old = { 'if-match': String((await call('GET', at)).headers.get('etag')) }
    const changed = await call('PUT', at, { stage: 'lead' }, old)
    assert.equal(changed.status, 200)
    const refused = [
      await call('PUT', at, { stage: 'customer' }, old),
      await call('PUT', at, { stage: 5 }, old),
      await call('DELETE', at, undefined, old),
      await call('POST', `${at}/restore`, undefined, old),
    ]
    for (const reply of refused) {
      assert.equal(reply.status, 412)
      assert.equal(reply.body.error.code, 'precondition_failed')
    }
    const etag = String(changed.headers.get('etag'))
    assert.equal((await call('GET', at, undefined, { 'if-none-match': etag })).status, 304)
    assert.equal((await call('PUT', at, { stage: 'x' }, { 'if-match': '*' })).status, 200)
    assert.equal((await call('PUT', `${path}/999999`, { stage: 5 }, { 'if-match': etag })).status, 404)
  })
})

describe('the company of a contact', () => {
  test('reads null while it is in the trash, survives a PUT of what GET showed, and comes back', async () => {
    const company = await madeCompany()
    const contact = await made({ company_id: company.id })
    const at = `${path}/${contact.id}`
    await done('DELETE', `${companies}/${company.id}`)
    const without = await done('GET', at)
    assert.deepEqual(without, { ...contact, company_id: null, company: null })
    const list = await call('GET', path)
    const listed = list.body.data.find((one: { id: number }) => one.id === contact.id)
    assert.deepEqual([listed.company_id, listed.company], [null, null])
    assert.equal((await call('GET', `${path}?company_id=${company.id}`)).body.meta.total, 0)

    await done('PUT', at, { ...without, stage: 'edited' })
    await done('PUT', at, { company_id: null })
    assert.deepEqual(problems(await call('PUT', at, { company_id: company.id })), {
      company_id: 'not_found',
    })
    await done('POST', `${companies}/${company.id}/restore`)
    const back = await done('GET', at)
    assert.deepEqual(back, { ...contact, stage: 'edited', updated_at: back.updated_at })
    assert.equal((await call('GET', `${path}?company_id=${company.id}`)).body.meta.total, 1)
  })

  test('another one replaces one in the trash, and the totals of both are right', async () => {
    const [old, other] = [await madeCompany(), await madeCompany({ name: 'Beta' })]
    const { id } = await made({ company_id: old.id })
    await done('DELETE', `${companies}/${old.id}`)
    assert.equal((await done('PUT', `${path}/${id}`, { company_id: other.id })).company.name, 'Beta')
    await done('POST', `${companies}/${old.id}/restore`)
    const total = async (company_id: number) =>
      (await call('GET', `${path}?company_id=${company_id}`)).body.meta.total
    assert.deepEqual([await total(old.id), await total(other.id)], [0, 1])
  })

  test('an unknown one, one in the trash and one of another workspace are all the same: not found', async () => {
    const gone = await madeCompany()
    await done('DELETE', `${companies}/${gone.id}`)
    const stranger = await newWorkspace(rapport)
    const theirs = (await stranger('POST', companies, { name: 'Theirs' })).body.data
    const { id } = await made()
    for (const company_id of [999_999, gone.id, theirs.id]) {
      const expected = [
        { field: 'company_id', code: 'not_found', message: `company_id ${company_id} does not exist.` },
      ]
      for (const reply of [
        await call('POST', path, { ...name, company_id }),
        await call('PUT', `${path}/${id}`, { company_id }),
      ]) {
        assert.equal(reply.status, 422)
        assert.deepEqual(reply.body.error.fields, expected)
      }
      const { data, meta } = (await call('GET', `${path}?company_id=${company_id}`)).body
      assert.deepEqual([data, meta.total], [[], 0])
    }
  })
})

describe('the trash', () => {
  test('DELETE answers a message; then the contact is gone for every operation, until it is restored as it was', async () => {
    const contact = await made({ stage: 'lead', custom_fields: { a: 1 } })
    const at = `${path}/${contact.id}`
    const total = async () => (await call('GET', path)).body.meta.total
    const before = await total()
    const reply = await call('DELETE', at)
    assert.deepEqual(reply.body, { success: true, message: 'The contact was deleted.' })
    assert.equal(await total(), before - 1)
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
      assert.equal((await call(method, at, method.startsWith('P') ? { stage: 5 } : undefined)).status, 404)
    clock.advance(1000)
    const restored = await call('POST', `${at}/restore`)
    assert.equal(restored.status, 200)
    assert.deepEqual(restored.body.data, contact)
    assert.equal(await total(), before)
    const again = await call('POST', `${at}/restore`)
    assert.equal(again.text, restored.text)
    assert.equal((await call('POST', `${path}/999999/restore`)).status, 404)
  })

  test('of many deletes and restores at once exactly one counts', async () => {
    const { id } = await made()
    const at = `${path}/${id}`
    const total = async () => (await call('GET', path)).body.meta.total
    const before = await total()
    const several = (method: string, to: string) =>
      Promise.all(Array.from({ length: 8 }, () => call(method, to)))
    const deletes = await several('DELETE', at)
    assert.deepEqual(deletes.map(({ status }) => status).sort(), [200, 404, 404, 404, 404, 404, 404, 404])
    assert.equal(await total(), before - 1)
    for (const { status } of await several('POST', `${at}/restore`)) assert.equal(status, 200)
    assert.equal(await total(), before)
    assert.deepEqual(await names(id), ['contact.created', 'contact.deleted', 'contact.updated'])
  })

  test('an id is never given again, not even that of the newest contact', async () => {
    const { id } = await made()
    await done('DELETE', `${path}/${id}`)
    assert.ok((await made()).id > id)
  })
})

describe('events', () => {
  test('contact.created has exactly its eight keys, null where there is no value', async () => {
    const company = await madeCompany()
    const values = { email: 'a@acme.example', phone: '1', company_id: company.id, stage: 'lead' }
    const full = await made({ ...values, mobile: '2', tags: ['x'], custom_fields: { a: 1 } })
    const created_at = now()
    const [event, ...more] = await events(full.id)
    assert.deepEqual(more, [])
    assert.ok(event)
    const { id: event_id, ...rest } = event
    assert.match(event_id, /^evt_/)
    assert.deepEqual(rest, {
      event: 'contact.created',
      timestamp: created_at,
      data: { id: full.id, ...name, ...values, created_at },
    })
    const bare = await made()
    assert.deepEqual((await events(bare.id))[0]?.data, {
      id: bare.id,
      ...name,
      email: null,
      phone: null,
      company_id: null,
      stage: null,
      created_at,
    })
  })

  test('contact.updated has the detail view, the changed fields and their whole old values', async () => {
    const company = await madeCompany()
    const before = await made({ custom_fields: { a: 1, b: 2 }, tags: ['x'] })
    clock.advance(1000)
    const after = await done('PUT', `${path}/${before.id}`, {
      first_name: 'Ana',
      stage: 'lead',
      company_id: company.id,
      custom_fields: { a: 3 },
      tags: [],
    })
    const { id: _, ...event } = (await events(before.id))[1] as StoredEvent
    assert.deepEqual(event, {
      event: 'contact.updated',
      timestamp: now(),
      data: after,
      changed_fields: ['company_id', 'stage', 'custom_fields', 'tags'],
      previous: { company_id: null, stage: null, custom_fields: { a: 1, b: 2 }, tags: ['x'] },
    })
  })

  test('contact.deleted has the last detail view, and a restore is a contact.updated of deleted_at', async () => {
    const contact = await made({ stage: 'lead' })
    clock.advance(1000)
    const deleted_at = now()
    await done('DELETE', `${path}/${contact.id}`)
    clock.advance(1000)
    const restored = await done('POST', `${path}/${contact.id}/restore`)
    const written = (await events(contact.id)).map(({ id: _, timestamp: __, ...event }) => event)
    assert.deepEqual(written.slice(1), [
      { event: 'contact.deleted', data: contact },
      {
        event: 'contact.updated',
        data: restored,
        changed_fields: ['deleted_at'],
        previous: { deleted_at },
      },
    ])
  })

  test('refused requests and restoring a live contact write none', async () => {
    const { id } = await made()
    const at = `${path}/${id}`
    await call('PUT', at, { stage: 5 })
    await call('PUT', at, { company_id: 999_999 })
    await call('DELETE', at, undefined, { 'if-match': '"old"' })
    await call('POST', `${at}/restore`)
    assert.deepEqual(await names(id), ['contact.created'])
  })
})

test("another workspace's contact does not exist, for no operation", async () => {
  const { id } = await made({ stage: 'secret', email: 'hidden@acme.example' })
  const note = await done('POST', `${path}/${id}/notes`, { body: 'Secret' })
  const stranger = await newWorkspace(rapport)
  const at = `${path}/${id}`
  const tried: [string, string, object?][] = [
    ['GET', at],
    ['PUT', at, { stage: 5 }],
    ['PATCH', at, { stage: 'x' }],
    ['DELETE', at],
    ['POST', `${at}/restore`],
    ['GET', `${at}/notes`],
    ['POST', `${at}/notes`, { body: 'x' }],
    ['GET', `${at}/notes/${note.id}`],
    ['PUT', `${at}/notes/${note.id}`, { body: 'x' }],
    ['DELETE', `${at}/notes/${note.id}`],
  ]
  for (const [method, to, body] of tried) {
    const theirs = await stranger(method, to, body)
    const unknown = await stranger(method, to.replace(`${id}`, '999999'), body)
    assert.equal(theirs.status, 404, `${method} ${to}`)
    assert.equal(theirs.body.error.message, unknown.body.error.message)
  }
  for (const query of ['', '?search=hidden', '?search=an', '?stage=secret'])
    assert.equal((await stranger('GET', path + query)).body.meta.total, 0)
  assert.equal((await call('GET', at)).status, 200)
})
