import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useStored } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { callOf, type Reply, useRapport } from '../../../test/harness.ts'
import { register } from '../../../test/webhooks.ts'

const rapport = useRapport({ roles: ['api'] })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/contacts'
const name = { first_name: 'Ana', last_name: 'Ruiz' }

const send = (items: unknown, more: object = {}, headers = {}, query = '') =>
  call('POST', `${path}/batch${query}`, { items, ...more }, headers)
const each = (items: unknown, headers = {}) => send(items, { atomic: false }, headers)
const results = async (reply: Reply | Promise<Reply>) => dataOf(await reply, 200)
async function fields(reply: Reply | Promise<Reply>) {
  const { status, body, text } = await reply
  assert.equal(status, 422, text)
  return Object.fromEntries(body.error.fields.map((one: Record<string, string>) => [one.field, one.code]))
}
const made = async (body: object = {}) => {
  const { status, body: answer, text, headers } = await call('POST', path, { ...name, ...body })
  assert.equal(status, 201, text)
  return { ...answer.data, etag: headers.get('etag') }
}
const read = async (id: number) => (await call('GET', `${path}/${id}`)).body.data
const contents = async () => {
  const tables = ['contacts', 'events', 'audit_log', 'record_counts', 'field_values', 'idempotency_keys']
  const found: object[][] = []
  for (const table of tables) found.push(await stored.rows(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4`))
  return found
}

test('a batch answers each item in its order, with its status, its id and its etag', async () => {
  const [old, unwanted] = [await made({ phone: '1' }), await made()]
  const reply = await send([
    { op: 'create', data: name },
    { op: 'update', id: old.id, if_match: old.etag, data: { phone: null } },
    { op: 'update', id: old.id, data: { first_name: ' Ana ' } },
    { op: 'upsert', match: 'email', data: { ...name, email: 'new@acme.example' } },
    { op: 'delete', id: unwanted.id },
  ])
  const data = await results(reply)
  assert.deepEqual(
    data.map(({ index, op, status, error }: Record<string, unknown>) => [index, op, status, error]),
    [
      [0, 'create', 'created', null],
      [1, 'update', 'updated', null],
      [2, 'update', 'unchanged', null],
      [3, 'upsert', 'created', null],
      [4, 'delete', 'deleted', null],
    ],
  )
  for (const { id, etag } of data.slice(0, 4))
    assert.equal((await call('GET', `${path}/${id}`)).headers.get('etag'), etag)
  assert.equal(data[4].id, unwanted.id)
  assert.equal(data[4].etag, null)
  assert.deepEqual(reply.body.meta, { created: 2, updated: 1, unchanged: 1, deleted: 1, failed: 0 })
})

describe('an atomic batch', () => {
  test('writes nothing when its last item fails, and names the field of each failing item', async () => {
    const { id, etag } = await made()
    await call('PUT', `${path}/${id}`, { phone: '2' })
    const before = await contents()
    const creates = Array.from({ length: 600 }, () => ({ op: 'create', data: name }))
    const found = await fields(
      send([
        ...creates,
        { op: 'create', data: { ...name, email: 'nobody' } },
        { op: 'update', id, if_match: etag, data: { phone: null } },
        { op: 'update', id: 999_999, data: { phone: null } },
        { op: 'create', data: { ...name, company_id: 999_999, nam: 1 } },
        { op: 'remove', id },
        { op: 'create' },
        { op: 'delete', id: 'x' },
        null,
        { op: 'update', id, data: [] },
        { op: 'delete', id, data: {} },
      ]),
    )
    assert.deepEqual(found, {
      'items[600].data.email': 'invalid_format',
      'items[601].if_match': 'precondition_failed',
      'items[602].id': 'not_found',
      'items[603].data.company_id': 'not_found',
      'items[603].data.nam': 'unknown_field',
      'items[604].op': 'unknown_value',
      'items[605].data': 'required',
      'items[606].id': 'invalid_type',
      'items[607]': 'invalid_type',
      'items[608].data': 'invalid_type',
      'items[609].data': 'unknown_field',
    })
    assert.deepEqual(await contents(), before)
  })

  test('is the default', async () => {
    const { body } = await call('GET', path)
    await fields(send([{ op: 'create', data: name }, { op: 'create' }]))
    assert.equal((await call('GET', path)).body.meta.total, body.meta.total)
  })
})

test('an error distinguishes an unknown key of a batch or an item from a field of the record, and names the existing keys', async () => {
  const messageOf = async (reply: Promise<Reply>) => (await reply).body.error.fields[0].message
  assert.equal(
    await messageOf(send([{ op: 'create', data: name, if_match: 'x' }])),
    'if_match is not a key of an item with op create. Its keys are op, data.',
  )
  assert.equal(
    await messageOf(send([{ op: 'create', data: { ...name, nam: 'x' } }])),
    'nam is not a field of this resource.',
  )
  assert.equal(
    await messageOf(send([], { itmes: [] })),
    'itmes is not a key of a batch. Its keys are atomic, items.',
  )
})

test('without atomic, each item fails for itself, with the error of the single request', async () => {
  const bodies = [
    { ...name, email: 'nobody' },
    { ...name, company_id: 999_999 },
    { first_name: 'Ana' },
    { ...name, tags: 'x', custom_fields: { a: [] } },
    { ...name, first_name: 'A\u0000' },
  ]
  const singles = await Promise.all(bodies.map((body) => call('POST', path, body)))
  const items = bodies.flatMap((data) => [
    { op: 'create', data: name },
    { op: 'create', data },
  ])
  const gone = { op: 'delete', id: 999_999 }
  const reply = await each([...items, gone])
  const data = await results(reply)
  for (const [index, { body }] of singles.entries()) {
    const { request_id: _, ...error } = body.error
    assert.deepEqual(data[2 * index + 1], {
      index: 2 * index + 1,
      op: 'create',
      status: 'failed',
      id: null,
      etag: null,
      error,
    })
    assert.equal(data[2 * index].status, 'created')
  }
  assert.equal(data.at(-1).error.code, 'not_found')
  assert.deepEqual(reply.body.meta, { created: 5, updated: 0, unchanged: 0, deleted: 0, failed: 6 })
})

test('a batch adds and removes tags, and restores records, of each kind', async () => {
  for (const [kind, body] of Object.entries({
    contacts: name,
    companies: { name: 'Acme' },
    deals: { name: 'Order' },
    activities: { subject: 'Call' },
  })) {
    const at = `/api/v1/${kind}`
    const make = async (tags: string[]) => dataOf(await call('POST', at, { ...body, tags })).id
    const [with_tag, without, trashed] = [await make(['vip', 'old']), await make([]), await make(['vip'])]
    await call('DELETE', `${at}/${trashed}`)
    const change = { op: 'update', data: {}, add_tags: [' vip ', 'new'], remove_tags: ['old'] }
    const items = [
      { ...change, id: with_tag },
      { ...change, id: without },
      { op: 'update', id: without, data: {}, add_tags: ['new'] },
      { op: 'restore', id: trashed },
      { op: 'restore', id: without },
    ]
    const { body: answer, text } = await call('POST', `${at}/batch`, { items })
    const statuses = answer.data?.map(({ status }: { status: string }) => status)
    assert.deepEqual(statuses, ['updated', 'updated', 'unchanged', 'updated', 'unchanged'], text)
    const tagsOf = async (id: number) => (await call('GET', `${at}/${id}`)).body.data.tags
    assert.deepEqual(await Promise.all([with_tag, without, trashed].map(tagsOf)), [
      ['vip', 'new'],
      ['vip', 'new'],
      ['vip'],
    ])
  }
})

test('a batch that adds tags refuses more than 50 of a record, and loses none that others add meanwhile', async () => {
  const [full, { id }] = [await made({ tags: Array.from({ length: 50 }, (_, n) => `${n}`) }), await made()]
  const add = (one: number, tag: string) => ({ op: 'update', id: one, data: {}, add_tags: [tag] })
  assert.deepEqual(await fields(send([add(full.id, 'more')])), { 'items[0].data.tags': 'too_many' })
  assert.deepEqual(await fields(send([{ op: 'delete', id, add_tags: ['a'] }])), {
    'items[0].add_tags': 'unknown_field',
  })
  const tags = Array.from({ length: 20 }, (_, n) => `tag ${n}`)
  await Promise.all(tags.map((tag) => send([add(id, tag)])))
  assert.deepEqual((await read(id)).tags.toSorted(), tags.toSorted())
})

test('an item with malformed tags fails for itself, also beside tags that it adds', async () => {
  const [{ id }, other] = [await made(), await made()]
  for (const tags of ['x', {}, [1]]) {
    const items = [
      { op: 'update', id, data: { tags }, add_tags: ['a'] },
      { op: 'update', id: other.id, data: { phone: '1' } },
    ]
    const { status, body, text } = await each(items)
    assert.equal(status, 200, text)
    assert.deepEqual(
      body.data.map((one: { status: string }) => one.status === 'failed'),
      [true, false],
    )
  }
})

test('items of one record run in their order', async () => {
  const { id } = await made()
  const data = await results(
    each([
      { op: 'update', id, data: { phone: '1' } },
      { op: 'update', id, data: { phone: '2' } },
      { op: 'upsert', match: 'email', data: { ...name, email: 'one@order.example' } },
      { op: 'upsert', match: 'email', data: { email: 'ONE@order.example', phone: '3' } },
      { op: 'delete', id },
      { op: 'update', id, data: { phone: '4' } },
    ]),
  )
  assert.deepEqual(
    data.map(({ status }: { status: string }) => status),
    ['updated', 'updated', 'created', 'updated', 'deleted', 'failed'],
  )
  assert.equal(data[3].id, data[2].id)
  const { email, phone } = await read(data[2].id)
  assert.deepEqual([email, phone], ['ONE@order.example', '3'])
  const events = (await stored.events('contact', id)).map(({ event }) => event)
  assert.deepEqual(events, ['contact.created', 'contact.updated', 'contact.updated', 'contact.deleted'])
})

type Result = { status: string; id: number | null; etag: string | null }

describe('a dry run', () => {
  test('answers the same, and writes nothing', async () => {
    const { id } = await made()
    const before = await contents()
    const items = [
      { op: 'create', data: name },
      { op: 'update', id, data: { phone: '7' } },
      { op: 'update', id: 999_999, data: {} },
      { op: 'delete', id },
    ]
    const headers = { 'idempotency-key': 'dry' }
    const dry = await send(items, { atomic: false }, headers, '?dry_run=true')
    const [created, updated] = await results(dry)
    assert.deepEqual([created.id, created.etag, updated.id, updated.etag], [null, null, id, null])
    assert.deepEqual(await contents(), before)
    const real = await send(items, { atomic: false }, headers, '?dry_run=false')
    assert.equal(real.headers.get('idempotency-replayed'), null)
    assert.deepEqual(real.body.meta, dry.body.meta)
    // A dry run ignores the key of a stored answer, too.
    const again = await send(items, { atomic: false }, headers, '?dry_run=true')
    assert.equal(again.headers.get('idempotency-replayed'), null)
    assert.equal(again.body.data[0].id, null)
  })

  test('names no id and no ETag of a record that it makes, in any of its items', async () => {
    const email = 'twice@acme.example'
    const upsert = { op: 'upsert', match: 'email', data: { ...name, email } }
    const items = [upsert, upsert, { ...upsert, data: { email, phone: '7' } }]
    const dry: Result[] = await results(send(items, {}, {}, '?dry_run=true'))
    assert.deepEqual(
      dry.map(({ status, id, etag }) => [status, id, etag]),
      [
        ['created', null, null],
        ['unchanged', null, null],
        ['updated', null, null],
      ],
    )
  })

  test('of an atomic batch finds the same problems', async () => {
    const items = [{ op: 'create', data: { ...name, email: 'x' } }]
    const dry = await send(items, {}, {}, '?dry_run=true')
    assert.deepEqual(dry.body.error.fields, (await send(items)).body.error.fields)
  })
})

test('a repeated Idempotency-Key gets the stored answer', async () => {
  const items = [{ op: 'create', data: { ...name, email: 'replay@acme.example' } }]
  const headers = { 'idempotency-key': 'batch' }
  const first = await send(items, {}, headers)
  const second = await send(items, {}, headers)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(second.body, first.body)
  assert.equal((await call('GET', `${path}?search=replay@acme`)).body.meta.total, 1)
})

test('the body has 1 to 1,000 items, and other forms are refused', async () => {
  const create = { op: 'create', data: name }
  const cases: [unknown, string, string][] = [
    [{ items: [] }, 'items', 'too_few'],
    [{ items: Array.from({ length: 1001 }, () => create) }, 'items', 'too_many'],
    [{ items: Array.from({ length: 200_000 }, () => 0) }, 'items', 'too_many'],
    [{ items: { 0: create } }, 'items', 'invalid_type'],
    [{}, 'items', 'required'],
    [{ items: null }, 'items', 'required'],
    [[create], 'body', 'invalid_type'],
    [null, 'body', 'invalid_type'],
    [{ items: [create], atomic: 'yes' }, 'atomic', 'invalid_type'],
    [{ items: [create], dry_run: true }, 'dry_run', 'unknown_field'],
    [{ items: [[[[]]]] }, 'items[0]', 'invalid_type'],
    [{ items: [{ ...create, extra: { deep: [[]] } }] }, 'items[0].extra', 'unknown_field'],
  ]
  for (const [body, field, code] of cases) {
    const found = await fields(call('POST', `${path}/batch`, JSON.stringify(body)))
    assert.equal(found[field], code, `${field} ${JSON.stringify(found)}`)
  }
  assert.equal((await send([create], {}, {}, '?dryrun=true')).status, 400)
  assert.equal((await send([create], {}, {}, '?dry_run=yes')).status, 422)
})

test('the body has at most 8 MiB', async () => {
  const text = 'x'.repeat(3000)
  const items = (bytes: number) =>
    Array.from({ length: 1000 }, () => ({
      op: 'create',
      data: { ...name, custom_fields: { a: text, b: text, c: text.slice(0, bytes / 1000 - 6200) } },
    }))
  assert.equal((await send(items(7.9 * 1024 * 1024), {}, {}, '?dry_run=true')).status, 200)
  const reply = await send(items(8.4 * 1024 * 1024))
  assert.equal(reply.status, 413)
  assert.equal(reply.body.error.code, 'payload_too_large')
})

test('an answer with many problems stays below the limit of answers', async () => {
  const bad = Object.fromEntries(Array.from({ length: 180 }, (_, n) => [`unknown_${n}`, 1]))
  const items = Array.from({ length: 1000 }, () => ({ op: 'create', data: bad }))
  const data = await results(each(items))
  assert.equal(data[0].error.fields.length, 182)
  assert.equal(data[999].error.code, 'validation_failed')
  await fields(send(items))
})

test('a batch needs the write scope of its resource alone', async () => {
  const { body } = await call('POST', '/api/v1/keys', {
    name: 'Reads',
    scopes: ['contacts:read', 'deals:write'],
  })
  const { client } = await import('../../../test/harness.ts')
  const limited = client(rapport.url, body.data.token)
  const items = [{ op: 'create', data: { name: 'Desks' } }]
  assert.equal((await limited('POST', `${path}/batch`, { items })).status, 403)
  assert.equal((await limited('POST', '/api/v1/deals/batch', { items })).status, 200)
})

test('each change of a batch has its deliveries', async () => {
  const { id } = await register(call, { url: 'http://127.0.0.1:9/', events: ['contact.created'] })
  await results(send(Array.from({ length: 300 }, () => ({ op: 'create', data: name }))))
  const [row] = await stored.rows('SELECT count(*) AS n FROM webhook_queue WHERE webhook_id = ?', id)
  assert.equal(row?.n, 300)
  assert.equal((await call('GET', `/api/v1/deliveries?webhook_id=${id}`)).body.meta.total, 300)
})
