import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStored } from '../database.ts'
import { refused } from '../envelope.ts'
import { callOf, turnableClock, useRapport } from '../harness.ts'
import type { Operation } from '../operations.ts'
import { request_env, startRequests } from '../valid-requests.ts'

const clock = turnableClock()
const rapport = useRapport({ clock, env: request_env })
const call = callOf(rapport)

const path = '/api/v1/companies'
async function make() {
  const reply = await call('POST', path, { name: 'Acme' })
  return {
    at: `${path}/${reply.body.data.id}`,
    id: reply.body.data.id,
    etag: String(reply.headers.get('etag')),
  }
}
const read = (at: string, headers?: Record<string, string>) => call('GET', at, undefined, headers)
const stale = '"another"'

test('every single read and write of a record carries the ETag of its state: a strong one', async () => {
  const { at, etag } = await make()
  assert.match(etag, /^"[^",\s]+"$/)
  assert.equal((await read(at)).headers.get('etag'), etag)
  assert.equal((await call('PUT', at, {})).headers.get('etag'), etag)
  assert.equal((await call('POST', `${at}/restore`)).headers.get('etag'), etag)
  const changed = (await call('PATCH', at, { name: 'Other' })).headers.get('etag')
  assert.notEqual(changed, etag)
  assert.equal((await read(at)).headers.get('etag'), changed)
})

test('the answer of a change is what a read returns afterwards, with its ETag', async () => {
  const make = async (kind: string, body: object) => {
    const made = await call('POST', `/api/v1/${kind}`, body)
    return made.body.data.id as number
  }
  const company_id = await make('companies', { name: 'Acme', website: 'https://acme.example' })
  const contact_id = await make('contacts', { first_name: 'Ana', last_name: 'Ruiz', company_id })
  const changes: Record<string, object[]> = {
    companies: [{ phone: '1' }, { name: 'Beta', custom_fields: { 2: 'b', a: 0.1 } }, { tags: ['x'] }],
    contacts: [{ phone: '1' }, { company_id: null }, { company_id }, { custom_fields: { z: -0, a: null } }],
    deals: [{ value: 12.5 }, { contact_id, company_id }, { probability: 7 }, { name: 'B' }],
    activities: [
      { subject: 'B' },
      { contact_id },
      { contact_id: null },
      { due_at: '2026-11-25T10:00:00+01:00' },
    ],
  }
  const ids: Record<string, number> = {
    companies: company_id,
    contacts: contact_id,
    deals: await make('deals', { name: 'A' }),
    activities: await make('activities', { type: 'call', subject: 'A' }),
  }
  for (const [kind, bodies] of Object.entries(changes))
    for (const body of bodies) {
      clock.advance(1000)
      const changed = await call('PATCH', `/api/v1/${kind}/${ids[kind]}`, body)
      const shown = await read(`/api/v1/${kind}/${ids[kind]}`)
      assert.equal(changed.status, 200, changed.text)
      assert.equal(changed.text, shown.text)
      assert.equal(changed.headers.get('etag'), shown.headers.get('etag'))
    }
})

test('If-None-Match with the current tag is 304 without a body: alone, weak, in a list, or *', async () => {
  const { at, etag } = await make()
  for (const known of [etag, `W/${etag}`, `${stale}, ${etag}`, `W/${stale},W/${etag} , "c"`, '*', ' * ']) {
    for (const method of ['GET', 'HEAD']) {
      const reply = await call(method, at, undefined, { 'if-none-match': known })
      assert.equal(reply.status, 304, known)
      assert.equal(reply.text, '')
      assert.equal(reply.headers.get('etag'), etag)
      assert.ok(reply.headers.get('x-request-id'))
    }
  }
})

test('If-None-Match with another tag reads as usual', async () => {
  const { at, etag } = await make()
  for (const known of [
    stale,
    `W/${stale}`,
    '',
    etag.slice(1, -1),
    etag.toUpperCase(),
    `${etag}x`,
    '"*"',
    '""',
  ])
    assert.equal((await read(at, { 'if-none-match': known })).status, 200, known)
  await call('PUT', at, { name: 'Other' })
  assert.equal((await read(at, { 'if-none-match': etag })).body.data.name, 'Other')
})

test('If-Match with the current tag, in a list or * lets every write through', async () => {
  for (const wrap of [(etag: string) => etag, (etag: string) => `${stale}, ${etag}`, () => '*']) {
    const { at, etag } = await make()
    const changed = await call('PUT', at, { name: 'Other' }, { 'if-match': wrap(etag) })
    assert.equal(changed.status, 200)
    const current = String(changed.headers.get('etag'))
    assert.equal((await call('POST', `${at}/restore`, undefined, { 'if-match': wrap(current) })).status, 200)
    assert.equal((await call('DELETE', at, undefined, { 'if-match': wrap(current) })).status, 200)
  }
})

test('If-Match with another tag is 412 and changes nothing; a weak tag never matches a write (RFC 9110, 13.1.1)', async () => {
  const { at, id, etag } = await make()
  const stored = await readStored(rapport.data_dir)
  const { text } = await read(at)
  for (const wrong of [stale, `W/${etag}`, `${stale}, W/${etag}`, '', etag.slice(1, -1), '"*"']) {
    const headers = { 'if-match': wrong }
    refused(await call('PUT', at, { name: 'Other' }, headers), 412, 'precondition_failed')
    refused(await call('PUT', at, {}, headers), 412, 'precondition_failed')
    refused(await call('DELETE', at, undefined, headers), 412, 'precondition_failed')
    refused(await call('POST', `${at}/restore`, undefined, headers), 412, 'precondition_failed')
  }
  assert.equal((await read(at)).text, text)
  assert.equal((await stored.events('company', id)).length, 1)
  await stored.close()
})

test('of two people who edit what they read, the second gets 412 instead of overwriting', async () => {
  const { at, etag } = await make()
  const edits = ['first', 'second'].map((phone) => call('PUT', at, { phone }, { 'if-match': etag }))
  const statuses = (await Promise.all(edits)).map(({ status }) => status).sort()
  assert.deepEqual(statuses, [200, 412])
})

test('an edit and its undoing within one millisecond give the first tag back, later ones do not', async () => {
  const { at, etag } = await make()
  await call('PUT', at, { name: 'Other' })
  assert.equal((await call('PUT', at, { name: 'Acme' })).headers.get('etag'), etag)
  clock.advance(1)
  await call('PUT', at, { name: 'Other' })
  assert.notEqual((await call('PUT', at, { name: 'Acme' })).headers.get('etag'), etag)
})

test('404 comes before 412, and 412 before what is wrong with the body', async () => {
  const { at } = await make()
  const headers = { 'if-match': stale }
  for (const method of ['PUT', 'DELETE'])
    refused(await call(method, `${path}/999999`, undefined, headers), 404, 'not_found')
  refused(await call('POST', `${path}/999999/restore`, undefined, headers), 404, 'not_found')
  refused(await read(`${path}/999999`, { 'if-none-match': '*' }), 404, 'not_found')
  refused(await call('PUT', at, { name: 5, nonsense: 1 }, headers), 412, 'precondition_failed')
})

test('a POST that acts on nothing with an ETag, such as a create or a batch, is 412 with any If-Match and does nothing', async () => {
  const requests = await startRequests(rapport)
  const takesMatch = ({ described }: Operation) =>
    described.parameters?.some(({ $ref = '' }: { $ref?: string }) => $ref.endsWith('/if_match'))
  const operations = requests.operations.filter(
    (one) => one.method === 'POST' && one.caller === 'key' && !takesMatch(one),
  )
  const names = operations.map(({ name }) => name)
  for (const name of ['/contacts', '/deals/batch', '/imports', '/contacts/{id}/notes', '/merges/{id}/undo'])
    assert.ok(names.includes(`post ${name}`), name)
  for (const operation of operations) {
    assert.ok(operation.described.responses[412], operation.name)
    const request = await requests.request(operation)
    for (const version of [stale, '*']) {
      const headers = { ...request.headers, 'if-match': version }
      refused(await requests.send({ ...request, headers }), 412, 'precondition_failed')
    }
    const { status, text } = await requests.send(request)
    assert.ok(status < 300, `${operation.name}: ${text}`)
  }
})

test('If-Match of a POST below an unknown record is 404', async () => {
  const headers = { 'if-match': stale }
  for (const [at, body] of [
    ['/contacts/999999/notes', { body: 'A note' }],
    ['/members/usr_unknown/reassign', { to: null }],
    ['/merges/999999/undo', {}],
    ['/audit-log/groups/grp_unknown/revert', {}],
  ] as const)
    refused(await call('POST', `/api/v1${at}`, body, headers), 404, 'not_found')
})
