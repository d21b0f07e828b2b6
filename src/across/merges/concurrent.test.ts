// runs: both
import assert from 'node:assert/strict'
import { beforeEach, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { newWorkspace, readStored } from '../../../test/database.ts'
import { engine, removeScratch } from '../../../test/engine.ts'
import { dataOf } from '../../../test/envelope.ts'
import { client, type Rapport, startRapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { beside, makeKey } from '../../../test/keys.ts'
import { scratchFolder } from '../../../test/process.ts'
import { until } from '../../../test/webhooks.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { contextOf } from '../../events/context.ts'
import { referrersOf } from '../../resources/derived.ts'
import { resources, rooms } from '../../resources/index.ts'
import { mergeKinds, moveBack, moveLinks } from './links.ts'
import { beginMerge, continueMerge } from './merge.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
type Json = any
const clock = turnableClock()
const rapport = useRapport({ clock })
let call: Rapport['call']
beforeEach(async () => {
  call = await newWorkspace(rapport)
})

async function ok(method: string, path: string, body?: object, caller = call): Promise<Json> {
  return dataOf(await caller(method, `/api/v1${path}`, body))
}
const contact = async (fields: object = {}, caller = call) =>
  (await ok('POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz', ...fields }, caller)).id as number

/** A service without background work: a test runs each step of a merge itself. */
async function startQuiet(t: TestContext) {
  const data_dir = scratchFolder(t)
  const service = await startRapport({ data_dir, clock, roles: ['api'] })
  t.after(async () => {
    await service.close()
    await removeScratch(data_dir)
  })
  return { data_dir, own: client(service.url, service.key) }
}

test('of concurrent merges of one pair, one direction succeeds, once, and no record is lost', async () => {
  for (let round = 0; round < 5; round++) {
    const [a, b] = [await contact({ phone: '1' }), await contact({ email: 'b@acme.example' })]
    const deal = await ok('POST', '/deals', { name: 'Relaunch', contact_id: b })
    const replies = await Promise.all(
      [
        [a, b],
        [b, a],
        [a, b],
        [b, a],
      ].map(([to, from]) => call('POST', `/api/v1/contacts/${to}/merge`, { from_ids: [from] })),
    )
    const succeeded = replies.filter(({ status }) => status === 200)
    assert.equal(succeeded.length, 2, replies.map(({ text }) => text).join())
    assert.deepEqual(succeeded[0]?.body, succeeded[1]?.body)
    for (const { status } of replies) assert.ok([200, 404, 409, 422].includes(status))
    const { data }: Json = succeeded[0]?.body ?? {}
    assert.deepEqual([data.phone, data.email], ['1', 'b@acme.example'])
    assert.equal((await ok('GET', `/deals/${deal.id}`)).contact_id, data.id)
  }
})

test('a deal that is created for a contact while it is merged belongs to the survivor, or is refused', async () => {
  for (let round = 0; round < 5; round++) {
    const [survivor, other] = [await contact(), await contact()]
    const [merged, ...deals] = await Promise.all([
      call('POST', `/api/v1/contacts/${survivor}/merge`, { from_ids: [other] }),
      ...Array.from({ length: 8 }, (_, n) =>
        call('POST', '/api/v1/deals', { name: `Deal ${n}`, contact_id: other }),
      ),
    ])
    assert.equal(merged.status, 200, merged.text)
    for (const { status, body, text } of deals) {
      assert.ok([201, 422].includes(status), text)
      if (status === 201)
        assert.equal((await ok('GET', `/deals/${body.data.id}`)).contact_id, survivor, 'a reference is lost')
    }
  }
})

test('a key merges only with the write scopes of all that may move', async () => {
  const own = client(rapport.url, rapport.key)
  const [survivor, other] = [await contact({}, own), await contact({}, own)]
  const moved = referrersOf(resources, 'contacts').map(({ resource }) => `${resource.scope}:write`)
  const scopes = [...new Set(['contacts:read', 'contacts:write', ...moved])]
  const all_but_one = scopes.filter((scope) => scope !== 'appointments:write')
  const { call: limited } = await makeKey(rapport, { scopes: all_but_one })
  const path = `/api/v1/contacts/${survivor}/merge`
  const refused = await limited('POST', path, { from_ids: [other] })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden'])
  assert.match(refused.body.error.message, /appointments:write/)
  const { body } = await own('POST', path, { from_ids: [other] })
  const undo = `/api/v1/merges/${body.meta.merge_id}/undo`
  assert.equal((await limited('POST', undo)).status, 403)
  const { call: enough } = await makeKey(rapport, { scopes })
  assert.deepEqual((await ok('GET', '/merges', undefined, enough)).length, 1)
  assert.equal((await enough('POST', undo)).status, 200)
  const { call: companies } = await makeKey(rapport, { scopes: ['companies:write', 'contacts:read'] })
  assert.equal((await companies('POST', '/api/v1/companies/1/merge', { from_ids: [2] })).status, 403)
})

test('an erasure of the survivor erases the merged records, and what the merge keeps of them', async () => {
  const secret = 'Quørndale-9981'
  const own = client(rapport.url, rapport.key)
  const [survivor, other] = [await contact({ phone: '1' }, own), await contact({ mobile: secret }, own)]
  const { body } = await own('POST', `/api/v1/contacts/${survivor}/merge`, { from_ids: [other] })
  await ok('DELETE', `/contacts/${survivor}`, undefined, own)
  await ok('DELETE', `/trash/contacts/${survivor}`, undefined, own).catch(() => {})
  const stored = await readStored(rapport.data_dir)
  assert.deepEqual(await stored.rows('SELECT id FROM contacts WHERE id IN (?, ?)', survivor, other), [])
  for (const [table, columns] of [
    ['events', 'payload'],
    ['audit_log', "coalesce(before, '') || coalesce(after, '')"],
    ['merges', "coalesce(changes, '')"],
  ] as const) {
    const [row] = await stored.rows(
      `SELECT count(*) AS n FROM ${table} WHERE ${columns} LIKE ?`,
      `%${secret}%`,
    )
    assert.equal(row?.n, 0, table)
  }
  await stored.close()
  const gone = await own('GET', `/api/v1/contacts/${other}`)
  assert.equal(gone.body.error.merged_into_id, survivor)
  assert.equal((await own('POST', `/api/v1/merges/${body.meta.merge_id}/undo`)).status, 409)
})

// More than two transactions of a merge move.
const count = engine === 'sqlite' ? 2000 : 600
const actor = { kind: 'command_line', id: null } as const
const kind = mergeKinds(rooms).get('contacts')
assert.ok(kind)
const contacts = kind

/** Writes deals of a contact past the API. */
const seedDeals = (db: Db, contact_id: number, count: number) =>
  transaction(db, (tx) => insertDeals(tx, contact_id, count))
const insertDeals = (tx: Tx, contact_id: number, count: number) =>
  sql`INSERT INTO deals (workspace_id, name, sort_name, stage, contact_id, created_at, updated_at)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(count)})
    SELECT 1, 'Deal', 'deal', 'new_lead', ${sql.lit(contact_id)}, '2026-11-01T08:30:00.000Z', '2026-11-01T08:30:00.000Z'
    FROM n`.execute(tx)

/** How many deals refer to each contact. */
async function dealsOf(data_dir: string, ids: number[]): Promise<[number, number]> {
  const stored = await readStored(data_dir)
  const count = async (id = 0) =>
    Number((await stored.rows('SELECT count(*) AS n FROM deals WHERE contact_id = ?', id))[0]?.n)
  const counts: [number, number] = [await count(ids[0]), await count(ids[1])]
  await stored.close()
  return counts
}

test('a merge that a crash interrupted is completed, and until then every deal has a live contact', async (t) => {
  const data_dir = scratchFolder(t)
  const first = await startRapport({ data_dir, clock, roles: ['api'] })
  const own = client(first.url, first.key)
  t.after(() => removeScratch(data_dir))
  const [survivor, other] = [await contact({}, own), await contact({ email: 'b@acme.example' }, own)]
  const merge_id = await beside(data_dir, async (db) => {
    await seedDeals(db, other, count)
    const context = () => contextOf(clock, { workspace_id: 1, actor, request_id: null })
    const asked = { survivor_id: survivor, from_ids: [other], wanted: {} }
    const sent = { problems: [], expect: () => {} }
    const begun = await transaction(db, (tx) => beginMerge(tx, context(), contacts, asked, sent))
    const { status } = await transaction(db, (tx) => continueMerge(tx, context(), contacts, begun.id))
    assert.equal(status, 'running')
    return begun.id
  })
  // The process has ended here.
  const [listed] = await ok('GET', '/merges', undefined, own)
  assert.deepEqual([listed.id, listed.status, listed.created_by.kind], [merge_id, 'running', 'command_line'])
  const [moved, waiting] = await dealsOf(data_dir, [survivor, other])
  assert.ok(moved > 0 && waiting > 0, `${moved} moved, ${waiting} waiting`)
  assert.equal(moved + waiting, count)
  assert.equal((await own('GET', `/api/v1/contacts/${other}`)).status, 200)
  const busy = await own('POST', `/api/v1/contacts/${other}/merge`, { from_ids: [survivor] })
  assert.deepEqual([busy.status, busy.body.error.code], [409, 'conflict'])
  const early = await own('POST', `/api/v1/merges/${merge_id}/undo`)
  assert.equal(early.status, 409)
  await first.close()

  clock.advance(60_000)
  const second = await startRapport({ data_dir, clock })
  t.after(() => second.close())
  const again = client(second.url, first.key)
  await until(
    () => ok('GET', '/merges', undefined, again),
    ([merge]) => merge.status === 'done',
  )
  assert.deepEqual(await dealsOf(data_dir, [survivor, other]), [count, 0])
  assert.equal((await ok('GET', `/contacts/${survivor}`, undefined, again)).email, 'b@acme.example')
  assert.equal((await again('GET', `/api/v1/contacts/${other}`)).body.error.merged_into_id, survivor)
  const undone = await ok('POST', `/merges/${merge_id}/undo`, undefined, again)
  assert.deepEqual(undone, { restored: count + 2, left: [] })
  assert.deepEqual(await dealsOf(data_dir, [survivor, other]), [0, count])
})

test('each transaction of a merge or its undo moves records, however slow the database is', async (t) => {
  const { data_dir, own } = await startQuiet(t)
  const [survivor, other] = [await contact({}, own), await contact({}, own)]
  const context = contextOf(clock, { workspace_id: 1, actor, request_id: null })
  const asked = { survivor_id: survivor, from_ids: [other], wanted: {} }
  const sent = { problems: [], expect: () => {} }
  // The time of each step is over when it begins.
  const over = 0
  await beside(data_dir, async (db) => {
    await seedDeals(db, other, count)
    const merge = await transaction(db, (tx) => beginMerge(tx, context, contacts, asked, sent))
    const [moved] = await dealsOf(data_dir, [survivor, other])
    assert.equal(await transaction(db, (tx) => moveLinks(tx, context, contacts, merge, over)), false)
    const [more, left] = await dealsOf(data_dir, [survivor, other])
    assert.ok(more > moved && left > 0, `${moved}, then ${more} moved, ${left} waiting`)
    const back = await transaction(db, (tx) => moveBack(tx, context, contacts, merge, over))
    assert.ok(back.count > 0 && !back.is_done)
  })
})

test('a merge whose survivor is deleted meanwhile is taken back', async (t) => {
  const { data_dir, own } = await startQuiet(t)
  const [survivor, other] = [await contact({}, own), await contact({}, own)]
  await beside(data_dir, (db) => seedDeals(db, other, count))
  const [merged] = await Promise.all([
    own('POST', `/api/v1/contacts/${survivor}/merge`, { from_ids: [other] }),
    until(
      () => ok('GET', '/merges', undefined, own),
      ([merge]) => merge?.status === 'running',
    ).then(() => ok('DELETE', `/contacts/${survivor}`, undefined, own)),
  ])
  assert.deepEqual([merged.status, merged.body.error?.code], [409, 'conflict'], merged.text)
  assert.deepEqual(await dealsOf(data_dir, [survivor, other]), [0, count])
  const [listed] = await ok('GET', '/merges', undefined, own)
  assert.deepEqual([listed.status, listed.undo_until], ['undone', null])
})

test('an undo does not restore a contact that somebody deleted while it was merged', async (t) => {
  const { data_dir, own } = await startQuiet(t)
  const [survivor, other, deleted] = [await contact({}, own), await contact({}, own), await contact({}, own)]
  const context = () => contextOf(clock, { workspace_id: 1, actor, request_id: null })
  const merge_id = await beside(data_dir, async (db) => {
    await seedDeals(db, other, count)
    const asked = { survivor_id: survivor, from_ids: [other, deleted], wanted: {} }
    const sent = { problems: [], expect: () => {} }
    let merge = await transaction(db, (tx) => beginMerge(tx, context(), contacts, asked, sent))
    assert.equal(merge.status, 'running')
    await ok('DELETE', `/contacts/${deleted}`, undefined, own)
    while (merge.status === 'running')
      merge = await transaction(db, (tx) => continueMerge(tx, context(), contacts, merge.id))
    return merge.id
  })
  const undone = await ok('POST', `/merges/${merge_id}/undo`, undefined, own)
  assert.deepEqual(undone.left, [{ kind: 'contacts', id: deleted, reason: 'deleted' }])
  assert.equal((await own('GET', `/api/v1/contacts/${other}`)).status, 200)
  assert.equal((await own('GET', `/api/v1/contacts/${deleted}`)).status, 404)
})
