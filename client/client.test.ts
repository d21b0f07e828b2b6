// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type Rapport as Service, startRapport } from '../test/harness.ts'
import { startReceiver } from '../test/receiver.ts'
import { installClient } from './package.ts'

type Module = Awaited<ReturnType<typeof installClient>>['module']

let installed: Awaited<ReturnType<typeof installClient>>
let service: Service
let api: Module
let client: ReturnType<Module['createClient']>

before(async () => {
  installed = await installClient()
  api = installed.module
  service = await startRapport()
  client = api.createClient({ url: service.url, key: service.key })
})
after(async () => {
  await service.close()
  installed.remove()
})

const isError = (status: number, code: string) => (error: unknown) => {
  assert.ok(error instanceof api.RapportError)
  assert.equal(error.status, status, error.message)
  assert.equal(error.code, code)
  return true
}

test('records are created, read, changed, listed and deleted by the names of their operations', async () => {
  const company = await client.companies.create({ name: 'Søren & Söhne' })
  const contact = await client.contacts.create({
    first_name: 'Zoë',
    last_name: "O'Neill",
    company_id: company.id,
    custom_fields: { 'a&b=c': 'x y' },
  })
  const note = await client.contacts.createNote(contact.id, { body: 'Calls back on Monday.' })
  assert.equal((await client.contacts.getNote(contact.id, note.id)).body, 'Calls back on Monday.')
  const deal = await client.deals.create({ name: 'Lamps', value: 1250.5, contact_id: contact.id })
  const lost = await client.deals.changeStage(deal.id, { stage: 'lost', lost_reason: 'Price' })
  assert.equal(lost.status, 'lost')
  assert.equal((await client.contacts.update(contact.id, { stage: 'lead' })).stage, 'lead')

  const filters = { search: 'zoë', custom_fields: { 'a&b=c': 'x y' } }
  const { data, meta } = await client.contacts.list(filters)
  assert.deepEqual([data.map(({ id }) => id), meta.total], [[contact.id], 1])
  const { data: detailed } = await client.deals.list({ details: true, contact_id: contact.id })
  assert.equal(detailed[0]?.lost_reason, 'Price')

  assert.equal(await client.contacts.delete(contact.id), undefined)
  await assert.rejects(client.contacts.get(contact.id), isError(404, 'not_found'))
  assert.equal((await client.contacts.restore(contact.id)).id, contact.id)
})

test('every operation that a key may call is a method, by its group and its name', async () => {
  const file = new URL('../docs/openapi.json', import.meta.url)
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as {
    paths: Record<string, Record<string, { security: object[] }>>
  }
  const needs_session = JSON.stringify([{ session: [] }])
  const wanted = Object.values(paths).flatMap((item) =>
    Object.entries(item).filter(
      ([name, { security }]) => name !== 'patch' && JSON.stringify(security) !== needs_session,
    ),
  )
  const methods = Object.values(client).flatMap((group) => Object.keys(group))
  assert.equal(methods.filter((name) => !/^each([A-Z]|$)/.test(name)).length, wanted.length)
  assert.equal((await client.reports.getPipeline()).stages.length, 8)
  assert.equal((await client.workspace.get()).currency, 'EUR')
})

test('an error has the status, the code, every failing field and the request id', async () => {
  const refused = client.contacts.create({ first_name: '', last_name: 'Ruiz', email: 'not an e-mail' })
  const error = await refused.catch((reason: unknown) => reason)
  assert.ok(error instanceof api.RapportError)
  assert.deepEqual([error.status, error.code], [422, 'validation_failed'])
  assert.deepEqual(error.fields.map(({ field }) => field).sort(), ['email', 'first_name'])
  assert.match(error.request_id ?? '', /^req_/)
  const other = api.createClient({ url: service.url, key: 'crm_unknown' })
  await assert.rejects(other.contacts.list(), isError(401, 'unauthorized'))
})

test('an error of a conflict has its reason, and that of a merged record the survivor', async () => {
  const made = (first_name: string) => client.contacts.create({ first_name, last_name: 'Merged' })
  const [kept, gone] = [await made('Kept'), await made('Gone')]
  await client.contacts.merge(kept.id, { from_ids: [gone.id] })
  const failure = (call: Promise<unknown>) => call.catch((error: unknown) => error)
  const merged = await failure(client.contacts.get(gone.id))
  assert.ok(merged instanceof api.RapportError)
  assert.deepEqual([merged.code, merged.merged_into_id, merged.reason], ['not_found', kept.id, null])
  const conflict = await failure(client.contacts.restore(gone.id))
  assert.ok(conflict instanceof api.RapportError)
  assert.deepEqual([conflict.status, conflict.reason], [409, 'merged_record'])
  assert.equal(conflict.facts.survivor_id, kept.id)
  await client.merges.undo(Number(conflict.facts.merge_id))
  assert.equal((await client.contacts.get(gone.id)).first_name, 'Gone')
})

test('a missing id is refused before a request, so that no other operation is called', async () => {
  await assert.rejects(client.contacts.get('' as never), TypeError)
  await assert.rejects(client.contacts.delete(undefined as never), TypeError)
  await assert.rejects(client.webhooks.pause('..'), TypeError)
  assert.throws(() => api.createClient({ url: 'crm.example', key: 'crm_x' }), TypeError)
})

test('filters take one value, several, none, and what a person has typed', async () => {
  const stages = ['a,b', '!c', 'd', null, 'null', '\\null', 'e\\', '\\,f']
  for (const [index, stage] of stages.entries())
    await client.contacts.create({
      first_name: `F${index}`,
      last_name: 'Filter',
      stage,
      custom_fields: { size: index, note: String(stage) },
    })
  type Filters = NonNullable<Parameters<typeof client.contacts.list>[0]>
  const found = async (filters: Filters) =>
    (await client.contacts.list({ search: 'filter', sort: 'id', ...filters })).data.map((one) => one.stage)
  assert.deepEqual(await found({ stage: ['a,b'] }), ['a,b'])
  assert.deepEqual(await found({ stage: ['!c', 'd'] }), ['!c', 'd'])
  assert.deepEqual(
    await found({ stage: '!d' }),
    stages.filter((stage) => stage !== 'd'),
  )
  assert.deepEqual(await found({ stage: null }), [null])
  assert.deepEqual(await found({ stage: [null, 'd'] }), ['d', null])
  for (const stage of stages) assert.deepEqual(await found({ stage: [stage] }), [stage])
  assert.deepEqual(await found({ stage: stages }), stages)
  assert.deepEqual(await found({ custom_fields: { note: ['e\\', 'd'] } }), ['d', 'e\\'])
  assert.deepEqual(await found({ custom_fields: { size: 2 } }), ['d'])
  assert.deepEqual(await found({ created_from: new Date(), stage: 'd' }), [])
  await client.customFields.create({ resource: 'contacts', key: 'size', type: 'number' })
  assert.deepEqual(await found({ 'custom_fields[size]_from': 1, 'custom_fields[size]_to': 2 }), ['!c', 'd'])
  const deal = await client.deals.create({ name: 'Filtered', value: 77 })
  const { data } = await client.deals.list({ value_from: 76.5, value_to: 77, stage: ['new_lead', 'won'] })
  assert.deepEqual(
    data.map(({ id }) => id),
    [deal.id],
  )
  await assert.rejects(client.contacts.list({ stage: [] }), /stage is an empty list/)
  await assert.rejects(client.contacts.list({ stage: [' '] }), /stage has an empty text/)
  await assert.rejects(
    client.contacts.list({ custom_fields: { note: [] } }),
    /custom_fields\[note\] is an empty/,
  )
  const nothing = { custom_fields: { note: undefined } } as never
  assert.equal((await found(nothing)).length, stages.length)
})

test('a list is read to its end, page by page, and no further than asked', async () => {
  const { id: company_id } = await client.companies.create({ name: 'Long list' })
  for (let number = 1; number <= 7; number++)
    await client.contacts.create({ first_name: `P${number}`, last_name: 'List', company_id })
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = (url, init) => {
    asked.push(String(url))
    return globalThis.fetch(url, init)
  }
  const counting = api.createClient({ url: service.url, key: service.key, fetch })
  const names: string[] = []
  for await (const { first_name } of counting.contacts.each({ company_id, per_page: 3, sort: 'id' }))
    names.push(first_name)
  assert.deepEqual(names, ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7'])
  assert.equal(asked.length, 3)
  for await (const _ of counting.contacts.each({ company_id, per_page: 3 })) break
  assert.equal(asked.length, 4)
})

test('lists with numbered pages, lists in one piece and the feed have iterators, too', async () => {
  const { id } = await client.contacts.create({ first_name: 'Ana', last_name: 'Feed' })
  for (const body of ['one', 'two']) await client.contacts.createNote(id, { body })
  const notes: string[] = []
  for await (const { body } of client.contacts.eachNote(id)) notes.push(body)
  assert.deepEqual(notes, ['two', 'one'])
  for await (const member of client.members.each()) assert.ok(member.email)

  let last: { event: string; data: { id: number } } | undefined
  let count = 0
  for await (const event of client.events.each({ per_page: 5 })) {
    last = event
    count++
  }
  assert.ok(count > 5)
  assert.deepEqual([last?.event, last?.data.id], ['contact.created', id])
})

test('a record that was read guards a change: after another change, 412', async () => {
  const made = await client.contacts.create({ first_name: 'Ana', last_name: 'Tag' })
  const { status, etag, request_id } = api.responseOf(made)
  assert.equal(status, 201)
  assert.match(String(request_id), /^req_/)
  const changed = await client.contacts.update(made.id, { stage: 'lead' }, { if_match: made })
  assert.notEqual(api.etagOf(changed), etag)
  const stale = client.contacts.update(made.id, { stage: 'customer' }, { if_match: made })
  await assert.rejects(stale, isError(412, 'precondition_failed'))
  await client.contacts.delete(made.id, { if_match: api.etagOf(changed) })
  await assert.rejects(client.contacts.get(made.id, { if_match: { ...made } }), TypeError)
})

test('a POST whose answer is lost is repeated with its Idempotency-Key, and makes one record', async () => {
  let calls = 0
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init)
    if (++calls > 1) return response
    await response.text()
    throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') })
  }
  const unlucky = api.createClient({ url: service.url, key: service.key, fetch })
  const made = await unlucky.companies.create({ name: 'Only once' })
  assert.equal(calls, 2)
  assert.equal(api.responseOf(made).replayed, true)
  assert.equal((await client.companies.list({ search: 'only once' })).meta.total, 1)

  calls = 0
  await unlucky.companies.delete(made.id)
  assert.equal(calls, 2)
  calls = 0
  const password = { token: 'x', password: 'y' }
  await assert.rejects(unlucky.passwordReset.resetPassword(password), isError(0, 'unreachable'))
  assert.equal(calls, 1)
})

test('a burst above the rate limit waits as Retry-After says, and every request succeeds', async (t) => {
  const slow = await startRapport({ env: { RATE_LIMIT_PER_SECOND: '5' } })
  t.after(() => slow.close())
  const eager = api.createClient({ url: slow.url, key: slow.key })
  const impatient = api.createClient({ url: slow.url, key: slow.key, max_retries: 0 })
  const made = await Promise.all(
    Array.from({ length: 14 }, (_, n) => eager.companies.create({ name: `Burst ${n}` })),
  )
  assert.equal(new Set(made.map(({ id }) => id)).size, 14)
  const refused = (
    await Promise.allSettled(Array.from({ length: 20 }, () => impatient.companies.list()))
  ).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  assert.ok(refused.length > 0)
  for (const error of refused) {
    isError(429, 'rate_limited')(error)
    assert.ok(error.retry_after_s > 0)
  }
})

test('503, a broken connection and a timeout are repeated, within the limits of the call', async (t) => {
  const answers = [{ status: 503, headers: { 'retry-after': '0' } }, 'reset', 'hang'] as const
  const body = '{"success":true,"data":{"id":7}}'
  const answer = (_: unknown, number: number) => answers[number - 1] ?? { body }
  const peer = await startReceiver({ answer })
  t.after(() => peer.close())
  const url = peer.url.replace('/hook', '')
  const within = (timeout_ms: number) => api.createClient({ url, key: 'crm_x', timeout_ms })
  // An answer that comes may be late on a busy machine.
  assert.deepEqual(await within(3000).contacts.get(7), { id: 7 })
  assert.equal(peer.received.length, 4)

  peer.answering = () => 'hang'
  await assert.rejects(within(200).contacts.get(7, { max_retries: 0 }), isError(0, 'timeout'))
  const patient = within(60_000)
  peer.answering = () => ({ status: 503, headers: { 'retry-after': '3600' } })
  const before_wait = peer.received.length
  await assert.rejects(patient.contacts.get(7), isError(503, 'http_503'))
  assert.equal(peer.received.length, before_wait + 1)

  peer.answering = () => ({ status: 503, headers: { 'retry-after': '30' } })
  const controller = new AbortController()
  const waiting = patient.contacts.get(7, { signal: controller.signal })
  await peer.waitFor(before_wait + 2)
  controller.abort(new Error('The user has left.'))
  await assert.rejects(waiting, { message: 'The user has left.' })
})

test('any number of items is sent in batches, and each item has its result in its order', async () => {
  const bodies: string[] = []
  const fetch: typeof globalThis.fetch = (url, init) => {
    bodies.push(String(init?.body))
    return globalThis.fetch(url, init)
  }
  const counting = api.createClient({ url: service.url, key: service.key, fetch })
  const names = Array.from({ length: 1203 }, (_, n) => (n === 1100 ? '' : `Batch ${n}`))
  const items = names.map((name) => ({ op: 'create' as const, data: { name } }))
  const options = { idempotency_key: 'first import' }
  const results = await Array.fromAsync(api.inBatches(counting.companies, items, options))
  assert.deepEqual(
    results.map(({ index }) => index),
    names.map((_, index) => index),
  )
  assert.deepEqual(
    results.filter(({ status }) => status !== 'created').map(({ index, status }) => [index, status]),
    [[1100, 'failed']],
  )
  assert.equal(bodies.length, 2)
  const again = await Array.fromAsync(api.inBatches(counting.companies, items, options))
  assert.deepEqual(again, results)

  async function* large() {
    for (let n = 0; n < 3; n++)
      yield { op: 'update' as const, id: 1, data: { address: 'x'.repeat(4_000_000) } }
  }
  bodies.length = 0
  const tooLong = await Array.fromAsync(api.inBatches(counting.companies, large(), { dry_run: true }))
  assert.deepEqual([tooLong.length, bodies.length], [3, 3])
  const atomic = Array.fromAsync(api.inBatches(counting.companies, items.slice(1100), { atomic: true }))
  await assert.rejects(atomic, isError(422, 'validation_failed'))
})

test('a page of a proxy is an error, and a redirect does not get the key', async (t) => {
  const peer = await startReceiver()
  t.after(() => peer.close())
  const proxied = api.createClient({ url: peer.url, key: 'crm_x' })
  for (const body of ['<h1>Welcome</h1>', 'null', '7']) {
    peer.answering = () => ({ body })
    await assert.rejects(proxied.contacts.get(7), isError(200, 'invalid_answer'))
  }
  peer.answering = ({ path }) =>
    path === '/elsewhere' ? {} : { status: 302, headers: { location: '/elsewhere' } }
  await assert.rejects(proxied.contacts.get(7), isError(302, 'http_302'))
  assert.equal(peer.received.length, 4)
})

test('a stream of events is a response, and lasts longer than the timeout', async () => {
  const timeout_ms = 2000
  const follower = api.createClient({ url: service.url, key: service.key, timeout_ms })
  const controller = new AbortController()
  const { body } = await follower.events.stream({}, { signal: controller.signal })
  assert.ok(body)
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  await new Promise((resolve) => setTimeout(resolve, timeout_ms + 100))
  await client.companies.create({ name: 'Streamed' })
  let text = ''
  while (!text.includes('Streamed')) text += (await reader.read()).value
  controller.abort()
})

test('the version is that of the service', () => {
  const versions = ['./package.json', '../package.json'].map(
    (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version,
  )
  assert.equal(versions[0], versions[1])
})
