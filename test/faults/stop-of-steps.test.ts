import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { connectAssistant } from '../assistant.ts'
import { dataOf, refused } from '../envelope.ts'
import { type Rapport, startRapport } from '../harness.ts'
import { importFile } from '../imports.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { log, register, until } from '../webhooks.ts'

// A request in several transactions, which a stop ends between two of them.

const once = { 'idempotency-key': 'once' }

/** Starts a service that ends requests in steps at the begin of its stop. */
const startHasty = (data_dir: string) => startRapport({ data_dir, last_step_ms: 0 })

/** Starts the service again, with the key of its first start. */
async function startAgain(t: TestContext, data_dir: string, { key }: Rapport) {
  const again = await startRapport({ data_dir })
  t.after(again.close)
  return { ...again, key, call: callWith(again, key) }
}
const callWith =
  (rapport: Rapport, key: string): Rapport['call'] =>
  (method, path, body, more = {}) =>
    rapport.call(method, path, body, { authorization: `Bearer ${key}`, ...more })

const totalOf = async (call: Rapport['call'], kind: string, filter = '') =>
  (await call('GET', `/api/v1/${kind}?per_page=1${filter}`)).body.meta.total

test('a stop ends an undo of an import with 503, and the repeated request completes it', async (t) => {
  const data_dir = scratchFolder(t)
  const rapport = await startHasty(data_dir)
  t.after(rapport.close)
  const rows = 2000
  const file = `name\n${Array.from({ length: rows }, (_, n) => `Row ${n}`).join('\n')}\n`
  const { id } = await importFile(rapport, { resource: 'companies' }, file)
  const path = `/api/v1/imports/${id}/undo`
  const undo = rapport.call('POST', path, {}, once)
  await until(
    () => totalOf(rapport.call, 'companies'),
    (total) => total < rows,
  )
  const stopped = rapport.stop()
  const reply = await undo
  refused(reply, 503, 'unavailable')
  assert.match(reply.body.error.message, /stopping/)
  assert.ok(Number(reply.headers.get('retry-after')) > 0)
  await stopped
  const again = await startAgain(t, data_dir, rapport)
  const done = dataOf(await again.call('POST', path, {}, once))
  assert.deepEqual(done, { restored: rows, left: [] })
  assert.equal(await totalOf(again.call, 'companies'), 0)
})

test('a stop ends a merge with 503, and the repeated request answers as the completed merge', async (t) => {
  const data_dir = scratchFolder(t)
  const rapport = await startHasty(data_dir)
  t.after(rapport.close)
  const { call } = rapport
  const make = async (last_name: string) =>
    dataOf(await call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name })).id
  const [survivor, from] = [await make('Kept'), await make('Merged')]
  const activities = 2000
  for (let n = 0; n < activities; n += 1000) {
    const data = { type: 'task', subject: 'Call', contact_id: from }
    const items = Array.from({ length: 1000 }, () => ({ op: 'create', data }))
    assert.equal((await call('POST', '/api/v1/activities/batch', { items })).status, 200)
  }
  const path = `/api/v1/contacts/${survivor}/merge`
  const merge = call('POST', path, { from_ids: [from] }, once)
  await until(
    () => movedOf(call, survivor),
    (total) => total > 0,
  )
  const stopped = rapport.stop()
  refused(await merge, 503, 'unavailable')
  await stopped
  const again = await startAgain(t, data_dir, rapport)
  // At once, beside the service that completes the merge; with the key, without it, and after the end.
  const merges = await Promise.all([
    again.call('POST', path, { from_ids: [from] }, once),
    again.call('POST', path, { from_ids: [from] }),
  ])
  merges.push(await again.call('POST', path, { from_ids: [from] }))
  const [begun] = (await again.call('GET', '/api/v1/merges')).body.data
  assert.equal(begun.status, 'done')
  for (const reply of merges) {
    assert.equal(dataOf(reply).id, survivor)
    assert.deepEqual(reply.body.meta, { merge_id: begun.id })
  }
  assert.equal(await movedOf(again.call, survivor), activities)
  const gone = await again.call('GET', `/api/v1/contacts/${from}`)
  assert.deepEqual([gone.status, gone.body.error.merged_into_id], [404, survivor])
})

const movedOf = async (call: Rapport['call'], contact_id: number) =>
  (await call('GET', `/api/v1/activities?contact_id=${contact_id}&per_page=1`)).body.meta.total

test('a stop ends a test of a webhook whose receiver does not answer, with 503', async (t) => {
  const data_dir = scratchFolder(t)
  const receiver = await startReceiver()
  t.after(receiver.close)
  const answer = Promise.withResolvers<void>()
  receiver.answering = () => ({ after: answer.promise })
  const rapport = await startHasty(data_dir)
  t.after(rapport.close)
  const { id } = await register(rapport.call, { url: receiver.url })
  const path = `/api/v1/webhooks/${id}/test`
  const ping = rapport.call('POST', path, {}, once)
  await receiver.waitFor(1)
  const stopped = rapport.stop()
  refused(await ping, 503, 'unavailable')
  answer.resolve()
  await stopped
  receiver.answering = () => ({})
  const again = await startAgain(t, data_dir, rapport)
  const sent = dataOf(await again.call('POST', path, {}, once))
  assert.equal(sent.status, 'succeeded')
  const all = await log(again.call, `webhook_id=${id}`)
  assert.deepEqual(
    all.map(({ status }) => status),
    ['succeeded', 'succeeded'],
  )
})

const grp = (letter: string) => `grp_${letter.repeat(32)}`
const groupPath = (group: string) => `/api/v1/audit-log/groups/${group}/revert`
const each = 75

/** Companies that a group of changes made, renamed, moved to the trash and restored, and what shows their state. */
async function changedCompanies(rapport: Rapport, change_group: string) {
  const { call } = rapport
  const items = Array.from({ length: 3 * each }, (_, n) => ({ op: 'create', data: { name: `Kept ${n}` } }))
  const { body } = await call('POST', '/api/v1/companies/batch', { items })
  const ids: number[] = body.data.map(({ id }: { id: number }) => id)
  const trashed = ids.slice(2 * each).map((id) => ({ op: 'delete', id }))
  await call('POST', '/api/v1/companies/batch', { items: trashed })
  const { use, close } = await connectAssistant(rapport)
  for (let n = 0; n < each; n++) {
    await use('create_company', { name: `Made ${n}`, change_group })
    await use('update_company', { id: ids[n], name: `Renamed ${n}`, change_group })
    await use('delete_company', { id: ids[each + n], change_group })
    await use('restore_company', { id: ids[2 * each + n], change_group })
  }
  await close()
}

/** How many live companies have a name that begins so. */
const named = async (call: Rapport['call'], words: string[]) =>
  Promise.all(words.map(async (word) => totalOf(call, 'companies', `&search=${word}`)))
const words = ['Made', 'Renamed', 'Kept']

test('a revert that is repeated after a stop counts what the first run reverted as restored', async (t) => {
  const data_dir = scratchFolder(t)
  const rapport = await startHasty(data_dir)
  t.after(rapport.close)
  const { call } = rapport
  await changedCompanies(rapport, grp('a'))
  assert.deepEqual(await named(call, words), [each, each, each])
  const revert = call('POST', groupPath(grp('a')), {}, once)
  await until(
    () => totalOf(call, 'companies', '&search=Made'),
    (total) => total < each - 2,
  )
  const stopped = rapport.stop()
  refused(await revert, 503, 'unavailable')
  await stopped
  const again = await startAgain(t, data_dir, rapport)
  const [made = 0] = await named(again.call, words)
  assert.ok(made > 0, 'it was complete before the stop')
  const { restored, left, group_id } = dataOf(await again.call('POST', groupPath(grp('a')), {}, once))
  assert.deepEqual([restored, left], [4 * each, []])
  assert.deepEqual(await named(again.call, words), [0, 0, 2 * each])
  // The changes of both runs are one group.
  assert.equal(dataOf(await again.call('POST', groupPath(group_id))).restored, 4 * each)
  assert.deepEqual(await named(again.call, words), [each, each, each])
})
