// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace, useStored } from '../../test/database.ts'
import { dataOf, problems, refused } from '../../test/envelope.ts'
import { type Rapport, type Reply, turnableClock, useRapport } from '../../test/harness.ts'
import { beside, makeKey } from '../../test/keys.ts'
import { unlessBusy, until } from '../../test/webhooks.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { addWork, dropWork } from '../db/work.ts'
import { contextOf, service } from '../events/context.ts'
import { runWork } from '../work/run.ts'
import { undoUnchecked } from './queries.ts'
import { definitionWork } from './upkeep.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)

type Call = Rapport['call']
const base = '/api/v1'
const path = `${base}/contacts`
const ana = { first_name: 'Ana', last_name: 'Ruiz' }
const taken = { 'custom_fields.number': 'taken' }

const ok = async (call: Call, method: string, at: string, body?: unknown) =>
  dataOf(await call(method, at, body))
const define = (call: Call, more: object = {}, query = '') =>
  ok(call, 'POST', `${base}/custom-fields${query}`, {
    resource: 'contacts',
    key: 'number',
    type: 'text',
    unique: true,
    ...more,
  })
const create = (call: Call, number: unknown) =>
  unlessBusy(() => call('POST', path, { ...ana, custom_fields: { number } }))
const made = async (call: Call, number: unknown) => {
  return dataOf(await create(call, number), 201)
}
/** The problems of items of a batch, whose messages name the field without the item. */
const codes = (reply: Reply) =>
  Object.fromEntries(
    (refused(reply, 422, 'validation_failed').fields ?? []).map(({ field, code }) => [field, code]),
  )
const rowsOf = (id: number) =>
  stored.rows('SELECT record_id, unique_value FROM defined_values WHERE definition_id = ? ORDER BY 1', id)

test('50 concurrent creates with one unique value make one record', async () => {
  const call = await newWorkspace(rapport)
  await define(call)
  const replies = await Promise.all(Array.from({ length: 50 }, () => create(call, 'C-1')))
  const created = replies.filter(({ status }) => status === 201)
  assert.equal(created.length, 1)
  for (const reply of replies.filter(({ status }) => status !== 201)) assert.deepEqual(problems(reply), taken)
  assert.equal((await call('GET', path)).body.meta.total, 1)
  const { id } = created[0]?.body.data ?? {}
  const { fields = [] } = refused(await create(call, 'C-1'), 422, 'validation_failed')
  assert.match(fields[0]?.message ?? '', new RegExp(`contact ${id} has this value`))
})

test('concurrent creates while a unique field is being defined make no second record of a value', async () => {
  for (let round = 0; round < 3; round++) {
    const call = await newWorkspace(rapport)
    const creates = Array.from({ length: 40 }, (_, n) => create(call, `C-${n % 20}`))
    const defined = call('POST', `${base}/custom-fields`, {
      resource: 'contacts',
      key: 'number',
      type: 'text',
      unique: true,
    })
    const [definition, ...replies] = await Promise.all([defined, ...creates])
    const values = replies.flatMap(({ status, body }) =>
      status === 201 ? [body.data.custom_fields.number] : [],
    )
    const doubled = values.length - new Set(values).size
    if (definition.status === 201) assert.equal(doubled, 0)
    else assert.match(refused(definition, 409, 'conflict').message, new RegExp(`${doubled} not unique`))
  }
})

test('a record keeps its own value, and another one can have it when it changes, is removed or deleted', async () => {
  const call = await newWorkspace(rapport)
  await define(call)
  const [one, two] = [await made(call, 'A'), await made(call, 'B')]
  await ok(call, 'PUT', `${path}/${one.id}`, { custom_fields: { number: 'A', x: 1 }, phone: '1' })
  const swap = { custom_fields: { number: 'A' } }
  assert.deepEqual(problems(await call('PUT', `${path}/${two.id}`, swap)), taken)
  await ok(call, 'PUT', `${path}/${one.id}`, { custom_fields: { number: 'C' } })
  await ok(call, 'PUT', `${path}/${two.id}`, swap)
  await ok(call, 'PUT', `${path}/${two.id}`, { custom_fields: { number: null } })
  const three = await made(call, 'A')
  await ok(call, 'DELETE', `${path}/${three.id}`)
  await made(call, 'A')
})

test('the values of a record in the trash are free, and a restore that collides is refused', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await define(call)
  const first = await made(call, 'A')
  await ok(call, 'DELETE', `${path}/${first.id}`)
  assert.deepEqual(await rowsOf(id), [])
  const second = await made(call, 'A')
  const { message } = refused(await call('POST', `${path}/${first.id}/restore`), 409, 'conflict')
  assert.match(message, new RegExp(`contact ${second.id} has this value`))
  refused(await call('GET', `${path}/${first.id}`), 404, 'not_found')
  await ok(call, 'DELETE', `${path}/${second.id}`)
  await ok(call, 'POST', `${path}/${first.id}/restore`)
  assert.deepEqual(problems(await create(call, 'A')), taken)
})

test('the record is named only to a caller who may read it', async () => {
  const number = 'only-named-to-readers'
  await define(rapport.call)
  const { id } = await made(rapport.call, number)
  const writer = (await makeKey(rapport, { scopes: ['contacts:write'] })).call
  const told = refused(await create(writer, number), 422, 'validation_failed').fields?.[0]?.message ?? ''
  assert.match(told, /Another contact has this value/)
  assert.ok(!told.includes(String(id)))
})

test('equal values are equal as their type compares them, however long they are', async () => {
  const call = await newWorkspace(rapport)
  await define(call, { type: 'email', key: 'mail' })
  const mail = (value: string) => call('POST', path, { ...ana, custom_fields: { mail: value } })
  assert.equal((await mail('Ana@Acme.example')).status, 201)
  assert.deepEqual(problems(await mail('ana@acme.EXAMPLE')), { 'custom_fields.mail': 'taken' })
  await define(call)
  const long = 'ä'.repeat(4000)
  await made(call, `${long}1`)
  await made(call, `${long}2`)
  assert.deepEqual(problems(await create(call, `${long}1`)), taken)
  await made(call, 'a')
  await made(call, 'A')
})

test('existing values that are not unique: refused with their number, or forced, and then they stay', async () => {
  const call = await newWorkspace(rapport)
  const ids: number[] = []
  for (const number of ['A', 'A', 'A', 'B']) ids.push((await made(call, number)).id)
  const body = { resource: 'contacts', key: 'number', type: 'text', unique: true }
  const { message } = refused(await call('POST', `${base}/custom-fields`, body), 409, 'conflict')
  assert.match(message, /^2 existing values break .*2 not unique/)
  await define(call, {}, '?force=true')
  assert.deepEqual(problems(await create(call, 'A')), taken)
  await ok(call, 'PUT', `${path}/${ids[2]}`, { phone: '1', custom_fields: { free: 1 } })
  await ok(call, 'PUT', `${path}/${ids[2]}`, { custom_fields: { number: 'C' } })
  assert.deepEqual(
    problems(await call('PUT', `${path}/${ids[2]}`, { custom_fields: { number: 'A' } })),
    taken,
  )
})

test('a field becomes unique and ceases to be, also with many records', async () => {
  const call = await newWorkspace(rapport)
  const items = Array.from({ length: 1200 }, (_, n) => ({
    op: 'create',
    data: { ...ana, custom_fields: { number: `N-${n}` } },
  }))
  for (const some of [items.slice(0, 600), items.slice(600)])
    await ok(call, 'POST', `${path}/batch`, { items: some })
  const { id } = await define(call, { unique: false })
  const again = await made(call, 'N-7')
  const at = `${base}/custom-fields/${id}`
  refused(await call('PUT', at, { unique: true }), 409, 'conflict')
  await made(call, 'N-8')
  await ok(call, 'DELETE', `${path}/${again.id}`)
  refused(await call('PUT', at, { unique: true }), 409, 'conflict')
  await ok(call, 'PUT', `${at}?force=true`, { unique: true })
  assert.equal((await rowsOf(id)).length, 1201)
  assert.deepEqual(problems(await create(call, 'N-1199')), taken)
  await ok(call, 'PUT', at, { unique: false })
  await made(call, 'N-1199')
})

test('an upsert matches by a unique field, also 10 of one new value at the same time', async () => {
  const call = await newWorkspace(rapport)
  await define(call)
  await define(call, { key: 'mail', type: 'email' })
  await define(call, { key: 'seats', type: 'number' })
  const upsert = (custom_fields: object, match = 'custom_fields.number') => ({
    op: 'upsert',
    match,
    data: { ...ana, custom_fields },
  })
  const batch = (...items: object[]) => call('POST', `${path}/batch`, { items })
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, n) => batch(upsert({ number: 'A', n }), upsert({ number: `own ${n}` }))),
  )
  const statuses = replies.map(({ status, text, body }) => {
    assert.equal(status, 200, text)
    return body.data[0].status
  })
  assert.deepEqual(statuses.sort(), ['created', ...Array(9).fill('updated')])
  assert.equal((await call('GET', path)).body.meta.total, 11)
  const mails = await batch(
    upsert({ mail: 'Ana@Acme.example' }, 'custom_fields.mail'),
    upsert({ mail: 'ana@acme.example', x: 1 }, 'custom_fields.mail'),
    upsert({ seats: 5 }, 'custom_fields.seats'),
    upsert({ seats: 5, mail: 'bob@acme.example' }, 'custom_fields.seats'),
  )
  assert.deepEqual(
    mails.body.data.map((one: { status: string }) => one.status),
    ['created', 'updated', 'created', 'updated'],
  )
  const wrong = await batch(
    upsert({ seats: '5' }, 'custom_fields.seats'),
    upsert({}, 'custom_fields.mail'),
    upsert({ number: 'A' }, 'custom_fields.other'),
    { op: 'create', data: { ...ana, custom_fields: { number: 'A' } } },
  )
  assert.deepEqual(codes(wrong), {
    'items[0].data.custom_fields.seats': 'invalid_type',
    'items[1].data.custom_fields.mail': 'required',
    'items[2].match': 'not_unique',
    'items[3].data.custom_fields.number': 'taken',
  })
})

test('two items of one batch cannot have one value, and a batch that is not atomic keeps the first', async () => {
  const call = await newWorkspace(rapport)
  await define(call)
  const items = ['A', 'A', 'B'].map((number) => ({
    op: 'create',
    data: { ...ana, custom_fields: { number } },
  }))
  assert.deepEqual(codes(await call('POST', `${path}/batch`, { items })), {
    'items[1].data.custom_fields.number': 'taken',
  })
  const { body } = await call('POST', `${path}/batch`, { atomic: false, items })
  assert.deepEqual(
    body.data.map((one: { status: string }) => one.status),
    ['created', 'failed', 'created'],
  )
  const [first, , third] = body.data as { id: number }[]
  const changes = [first, third].map((one) => ({
    op: 'update',
    id: one?.id,
    data: { custom_fields: { number: 'C' } },
  }))
  const changed = await call('POST', `${path}/batch`, { atomic: false, items: changes })
  assert.deepEqual(
    changed.body.data.map((one: { status: string }) => one.status),
    ['updated', 'failed'],
  )
})

test('a batch restores a record whose unique value an earlier item frees', async () => {
  const call = await newWorkspace(rapport)
  await define(call)
  const trashed = await made(call, 'R-1')
  await call('DELETE', `${path}/${trashed.id}`)
  const live = await made(call, 'R-1')
  const restore = { op: 'restore', id: trashed.id }
  refused(
    await call('POST', `${path}/batch`, { items: [restore, { op: 'delete', id: live.id }] }),
    422,
    'validation_failed',
  )
  const items = [{ op: 'delete', id: live.id }, restore]
  const { status, text, body } = await call('POST', `${path}/batch`, { items })
  assert.equal(status, 200, text)
  assert.deepEqual(
    body.data.map((one: { status: string }) => one.status),
    ['deleted', 'updated'],
  )
})

test('items of a batch take unique values in their order, as single requests do', async () => {
  for (const atomic of [true, false]) {
    const call = await newWorkspace(rapport)
    await define(call)
    const batch = async (items: object[]) =>
      (await call('POST', `${path}/batch`, { atomic, items })).body.data
    const statuses = async (items: object[]) =>
      (await batch(items))?.map((one: { status: string }) => one.status) ?? 'refused'
    const set = (id: number, number: string | null) => ({
      op: 'update',
      id,
      data: { custom_fields: { number } },
    })
    const add = (number: string) => ({ op: 'create', data: { ...ana, custom_fields: { number } } })
    const [a, b] = [await made(call, 'A'), await made(call, 'B')]

    assert.deepEqual(await statuses([set(a.id, 'C'), set(b.id, 'A')]), ['updated', 'updated'])
    assert.deepEqual(await statuses([set(a.id, null), add('C')]), ['updated', 'created'])
    assert.deepEqual(await statuses([add('A'), set(b.id, 'B')]), atomic ? 'refused' : ['failed', 'updated'])
    if (atomic) await ok(call, 'PUT', `${path}/${b.id}`, { custom_fields: { number: 'B' } })
    assert.deepEqual(
      await statuses([add('B'), { op: 'delete', id: b.id }]),
      atomic ? 'refused' : ['failed', 'deleted'],
    )
    if (atomic) await ok(call, 'DELETE', `${path}/${b.id}`)
    assert.deepEqual(await statuses([add('B')]), ['created'])
  }
})

test('a taken value is named beside the other problems of a write', async () => {
  const call = await newWorkspace(rapport)
  await define(call)
  await made(call, 'A')
  const { id } = await made(call, 'B')
  const wrong = { email: 'ana@', custom_fields: { number: 'A' } }
  const expected = { ...taken, email: 'invalid_format' }
  assert.deepEqual(problems(await call('PUT', `${path}/${id}`, wrong)), expected)
  assert.deepEqual(problems(await call('POST', path, { ...ana, ...wrong })), expected)
})

test('a merge gives the survivor the unique value of a merged record, and its undo gives it back', async () => {
  const call = await newWorkspace(rapport)
  const { id: field } = await define(call)
  const values = async () => (await rowsOf(field)).map((row) => Object.values(row))
  const numberOf = async (id: number) => (await ok(call, 'GET', `${path}/${id}`)).custom_fields.number ?? null
  const merge = async (survivor: number, from_id: number, fields = {}) => {
    const reply = await call('POST', `${path}/${survivor}/merge`, { from_ids: [from_id], fields })
    assert.equal(reply.status, 200, reply.text)
    return { number: reply.body.data.custom_fields.number, undo: reply.body.meta.merge_id }
  }
  const [one, two, without] = [await made(call, 'A'), await made(call, 'B'), await made(call, null)]
  const chosen = await merge(one.id, two.id, { 'custom_fields.number': two.id })
  assert.equal(chosen.number, 'B')
  assert.deepEqual(await values(), [[one.id, 'B']])
  // A value that no record has now is free, and the undo does not need it.
  assert.deepEqual(problems(await create(call, 'B')), taken)
  const back = await ok(call, 'POST', `${base}/merges/${chosen.undo}/undo`)
  assert.deepEqual(back, { restored: 2, left: [] })
  assert.deepEqual([await numberOf(one.id), await numberOf(two.id)], ['A', 'B'])

  const inherited = await merge(without.id, one.id)
  assert.equal(inherited.number, 'A')
  assert.deepEqual(await ok(call, 'POST', `${base}/merges/${inherited.undo}/undo`), { restored: 2, left: [] })
  assert.deepEqual([await numberOf(without.id), await numberOf(one.id)], [null, 'A'])
  assert.deepEqual(await values(), [
    [one.id, 'A'],
    [two.id, 'B'],
  ])
})

test('an undone merge leaves a record whose unique value was taken meanwhile', async () => {
  const call = await newWorkspace(rapport)
  await define(call)
  const [survivor, other] = [await made(call, 'A'), await made(call, 'B')]
  const merged = await call('POST', `${path}/${survivor.id}/merge`, { from_ids: [other.id] })
  assert.equal(merged.status, 200, merged.text)
  await made(call, 'B')
  const undone = await ok(call, 'POST', `${base}/merges/${merged.body.meta.merge_id}/undo`)
  assert.deepEqual(undone.left, [{ kind: 'contacts', id: other.id, reason: 'refused' }])
})

/** Does what is left of checks and deletions. */
const keepUp = (db: Db) => runWork({ db, clock }, definitionWork, new AbortController().signal)

/** Leaves the work of a check, as a crash does. */
async function leaveCheck(tx: Tx, id: number, lease_ends_ms: number): Promise<void> {
  const { workspace_id } = await tx
    .selectFrom('field_definitions')
    .select('workspace_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await dropWork(tx, workspace_id, 'custom_field', String(id))
  const context = contextOf(
    { now: clock.now, elapsed: () => 0 },
    { workspace_id, actor: service, request_id: null },
  )
  addWork(tx, context, { kind: 'custom_field', subject: String(id), lease_ms: lease_ends_ms })
}

test('a check that a crash interrupted is undone, and the rows of deleted definitions are removed', async () => {
  const call = await newWorkspace(rapport)
  await made(call, 'A')
  const deleted = await define(call)
  await ok(call, 'DELETE', `${base}/custom-fields/${deleted.id}`)
  const kept = await define(call, { unique: false })
  await beside(rapport.data_dir, async (db) => {
    const interrupted = { status: 'changing', is_unique: 1, previous: '{"is_unique":0}' } as const
    await transaction(db, async (tx) => {
      await tx.updateTable('field_definitions').set(interrupted).where('id', '=', kept.id).execute()
      await leaveCheck(tx, kept.id, 0)
    })
    await keepUp(db)
    await transaction(db, (tx) => undoUnchecked(tx, 1, kept.id))
  })
  assert.deepEqual(await rowsOf(deleted.id), [])
  assert.equal((await stored.rows('SELECT id FROM field_definitions WHERE id = ?', deleted.id)).length, 0)
  assert.equal((await ok(call, 'GET', `${base}/custom-fields/${kept.id}`)).unique, false)
  assert.equal((await rowsOf(kept.id)).length, 1)
  await made(call, 'A')
})

test('the definition of a key whose check a crash interrupted can be repeated: first 409, then it succeeds', async () => {
  const call = await newWorkspace(rapport)
  const body = { resource: 'contacts', key: 'number', type: 'text', unique: true }
  const { id } = await define(call)
  const interrupt = (lease_ends_ms: number) =>
    beside(rapport.data_dir, (db) =>
      transaction(db, async (tx) => {
        await tx.updateTable('field_definitions').set({ status: 'new' }).where('id', '=', id).execute()
        await leaveCheck(tx, id, lease_ends_ms)
      }),
    )
  await interrupt(clock.elapsed() + 60_000)
  const early = await call('POST', `${base}/custom-fields`, body)
  refused(early, 409, 'conflict')
  assert.equal(early.body.error.reason, 'field_being_checked')
  await interrupt(0)
  // The service may be ending the same work, and then this does not.
  await beside(rapport.data_dir, keepUp)
  await until(() => call('POST', `${base}/custom-fields`, body), { status: 201 })
})
