import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems, refused } from '../envelope.ts'
import { type Reply, useRapport } from '../harness.ts'
import { isReference, type Operation } from '../operations.ts'
import { before } from '../use.ts'
import { type Requests, request_env, startRequests, type ValidRequest } from '../valid-requests.ts'
import { until } from '../webhooks.ts'

// Two workspaces, and every operation of the OpenAPI document: valid requests of one that name records of the other.

const rapport = useRapport({ env: request_env })
let mine: Requests
let theirs: Requests
before(async () => {
  theirs = await startRequests(rapport)
  mine = await startRequests(rapport, { workspace: 'new' })
})

const pages = [
  'contacts',
  'companies',
  'deals',
  'activities',
  'appointments',
  'booking-pages',
  'webhooks',
  'trash',
  'keys',
  'members',
  'invitations',
  'audit-log',
  'work',
]
const lists = [
  ...pages.map((name) => `${name}?per_page=100`),
  'events?per_page=100&sort=-timestamp',
  'views',
  'workspace',
]

/** All that the other workspace shows, without when its keys and people were last seen. */
async function shown() {
  const pagesOf = async (list: string) => {
    const texts: string[] = []
    for (let page = 1, last = 1; page <= last; page++) {
      const { status, text, body } = await theirs.call(
        'GET',
        `/api/v1/${list}${page > 1 ? `&page=${page}` : ''}`,
      )
      assert.equal(status, 200, text)
      texts.push(text.replaceAll(/"(last_used_at|last_seen_at)":[^,}]*/g, ''))
      last = body.meta?.last_page ?? 1
    }
    return texts
  }
  return Promise.all(lists.map(pagesOf))
}

/** The answer without what differs from request to request. */
const plain = ({ status, text, body }: Reply) => [status, text.replaceAll(body?.error?.request_id ?? '-', '')]

// Longer than any list's numbers, and in the form of every text id.
const unknown = (path: string, id: string) => {
  const never = /^\d+$/.test(id) ? '987654321' : id.replace(/[^_]+$/, 'x'.repeat(16))
  return path.replace(`/${id}`, `/${never}`)
}

// A kind and a list are words of the service.
const named = (operation: Operation) =>
  operation.path_parameters.filter(({ name }) => !['kind', 'list'].includes(name))

test("another workspace's ids in a path answer 404 like ids that never were, with a valid body, and leave no trace", async () => {
  const operations = mine.operations.filter((operation) => named(operation).length)
  assert.ok(operations.length > 50)
  const asked: [Operation, ValidRequest][] = []
  for (const operation of operations) asked.push([operation, await mine.request(operation, { path: theirs })])
  await theirs.atRest()
  const before = await shown()
  for (const [operation, request] of asked) {
    const reply = await mine.send(request)
    refused(reply, 404, 'not_found')
    // The first id of the path decides: the note of a contact that is not there is not there either.
    const [id = ''] =
      request.path
        .split('?')[0]
        ?.split('/')
        .filter((part) => /^\d+$|^[a-z]+_\w{6,}$/.test(part)) ?? []
    assert.ok(id, request.path)
    const never = await mine.send({ ...request, path: unknown(request.path, id) })
    assert.deepEqual(plain(reply), plain(never), operation.name)
  }
  // The audit log among these tells which operation left a trace.
  assert.deepEqual(await shown(), before)
})

const referencesOf = ({ body }: Operation) =>
  Object.entries<{ readOnly?: boolean }>(body?.properties ?? {})
    .filter(([name, { readOnly }]) => !readOnly && (isReference(name) || name === 'guest_ids'))
    .map(([name]) => (name === 'guest_ids' ? `${name}.0` : name))

test("another workspace's ids in a valid body are 422 not_found on every one of them, and leave no trace", async () => {
  const operations = mine.operations.filter((operation) => referencesOf(operation).length)
  assert.ok(operations.length >= 8)
  const asked: [Operation, ValidRequest][] = []
  for (const operation of operations)
    asked.push([operation, await mine.request(operation, { references: theirs })])
  await theirs.atRest()
  const before = await shown()
  for (const [operation, request] of asked) {
    const expected = Object.fromEntries(referencesOf(operation).map((name) => [name, 'not_found']))
    assert.deepEqual(problems(await mine.send(request)), expected, operation.name)
  }
  assert.deepEqual(await shown(), before)
})

test("another workspace's ids in a query find what ids find that never were", async () => {
  let tried = 0
  for (const operation of mine.operations)
    for (const { name } of operation.query.filter(
      (one) => isReference(one.name) && one.name !== 'actor_id',
    )) {
      const request: ValidRequest = await mine.request(operation)
      // An export holds its place until its connection has taken the end of it.
      const ask = (id: unknown) =>
        until(
          () => mine.send({ ...request, path: `${request.path}?${name}=${id}` }),
          ({ status }) => status !== 503,
        )
      const id = name === 'record_id' ? await theirs.reference('contact_id') : await theirs.reference(name)
      const foreign = await ask(id)
      const never = await ask(typeof id === 'number' ? 987_654_321 : 'wh_xxxxxxxxxxxxxxxx')
      assert.ok([200, 404, 422].includes(foreign.status), `${operation.name}: ${foreign.text}`)
      const told = (reply: Reply) =>
        JSON.stringify(plain(reply)).replaceAll(/987654321|wh_x{16}/g, String(id))
      assert.equal(told(foreign), told(never), `${operation.name}?${name}`)
      if (Array.isArray(foreign.body.data)) assert.deepEqual(foreign.body.data, [], operation.name)
      tried++
    }
  assert.ok(tried >= 8)
})

test('no list and no report shows anything of another workspace', async () => {
  // A word that only they have, in every text that can be written.
  const word = 'zyzzyva'
  for (const operation of theirs.operations.filter(({ method }) => method === 'POST')) {
    if (operation.caller !== 'key' || !operation.body) continue
    const { body = {}, ...request } = await theirs.request(operation)
    const marked = Object.entries(body).map(([name, value]) =>
      /^(first_name|last_name|name|title|subject|body|description|company)$/.test(name)
        ? [name, word]
        : [name, value],
    )
    const reply = await theirs.send({ ...request, body: Object.fromEntries(marked) })
    assert.ok([200, 201, 202].includes(reply.status), `${operation.name}: ${reply.text}`)
  }
  assert.ok((await theirs.call('GET', `/api/v1/contacts?search=${word}`)).text.includes(word))
  for (const operation of mine.operations.filter(({ method }) => method === 'GET')) {
    const reply = await mine.send(await mine.request(operation))
    assert.equal(reply.status, 200, `${operation.name}: ${reply.text}`)
    assert.ok(!reply.text.includes(word), `${operation.name} shows what is another workspace's`)
  }
})
