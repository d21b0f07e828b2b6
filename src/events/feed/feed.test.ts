// runs: both
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { newWorkspace, readStored, type Stored } from '../../../test/database.ts'
import { type Rapport, startRapport } from '../../../test/harness.ts'
import { beside, makeKey } from '../../../test/keys.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { useFor } from '../../../test/use.ts'
import { act, register } from '../../../test/webhooks.ts'
import { catalogue } from '../../app.ts'
import { transaction } from '../../db/db.ts'

const path = '/api/v1/events'
let service: Rapport
let stored: Stored
before(async () => {
  service = await startRapport()
  stored = await readStored(service.data_dir)
})
after(async () => {
  await stored.close()
  await service.close()
})

const call: Rapport['call'] = (...words) => service.call(...words)
type Call = Rapport['call']
const company = async (call: Call, name: string) =>
  (await call('POST', '/api/v1/companies', { name })).body.data.id as number
const feed = async (query = '', by: Call = call) => {
  const reply = await by('GET', `${path}${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as {
    data: { id: string; event: string; data: Record<string, unknown> }[]
    meta: { per_page: number; next_cursor: string | null; has_more: boolean }
  }
}

test('before anything happened, the feed is empty and its cursor is the beginning', async () => {
  assert.deepEqual(await feed(), {
    success: true,
    data: [],
    meta: { per_page: 25, next_cursor: '0', has_more: false },
  } as never)
  assert.deepEqual((await feed('?sort=-timestamp')).meta, {
    per_page: 25,
    next_cursor: null,
    has_more: false,
  })
})

test('events come oldest first in parts that neither miss nor repeat one, and the last cursor goes on later', async () => {
  const another = await newWorkspace(service)
  const { meta: start } = await feed()
  for (let n = 0; n < 7; n++) {
    await company(call, `Part ${n}`)
    await company(another, `Foreign ${n}`)
  }
  const names: unknown[] = []
  let cursor = start.next_cursor
  for (const more of [true, true, false]) {
    const { data, meta } = await feed(`?per_page=3&cursor=${cursor}`)
    names.push(...data.map(({ data }) => data.name))
    assert.deepEqual([meta.per_page, meta.has_more, typeof meta.next_cursor], [3, more, 'string'])
    cursor = meta.next_cursor
  }
  assert.deepEqual(
    names,
    Array.from({ length: 7 }, (_, n) => `Part ${n}`),
  )
  const none = await feed(`?cursor=${cursor}`)
  assert.deepEqual([none.data, none.meta.next_cursor], [[], cursor])
  await company(call, 'Later')
  const later = await feed(`?cursor=${cursor}`)
  assert.deepEqual(
    later.data.map(({ data }) => data.name),
    ['Later'],
  )
  assert.ok((await feed('', another)).data.every(({ data }) => String(data.name).startsWith('Foreign')))
})

test('newest first goes back to the oldest event, and ends with null', async () => {
  const all = (await feed('?per_page=100')).data.map(({ id }) => id)
  const seen: string[] = []
  let cursor: string | null = 'start'
  while (cursor !== null) {
    const { data, meta } = await feed(`?sort=-timestamp&per_page=4&cursor=${cursor}`)
    seen.push(...data.map(({ id }) => id))
    assert.equal(meta.has_more, meta.next_cursor !== null)
    cursor = meta.next_cursor
  }
  assert.deepEqual(seen, all.toReversed())
})

test('an event has the same bytes as its webhook, but for the webhook; a test of a webhook is no event', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const hook = await register(call, { url: receiver.url, events: ['company.created', 'company.updated'] })
  await act(call, hook.id, 'test')
  const { next_cursor } = (await feed('?per_page=100')).meta
  const id = await company(call, 'Señalética "\\ & Söhne\u2028\n€')
  await call('PUT', `/api/v1/companies/${id}`, { industry: 'Signs' })
  await act(call, hook.id, 'test')
  await receiver.waitFor(4)
  const sent = receiver.received.map(({ body }) => String(body)).filter((body) => !body.includes('"ping"'))
  const without = sent.map((body) => body.replace(`,"webhook_id":"${hook.id}"`, ''))
  const { text, headers } = await call('GET', `${path}?cursor=${next_cursor}`)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  const [, data] = /^\{"success":true,"data":\[(.*)\],"meta":\{[^[\]]*\}\}$/s.exec(text) ?? []
  assert.deepEqual(data, without.sort((a, b) => (a < b ? -1 : 1)).join())
  assert.ok((await stored.rows("SELECT id FROM events WHERE event = 'ping'")).length >= 2)
  for (const sort of ['timestamp', '-timestamp'])
    assert.ok((await feed(`?per_page=100&sort=${sort}`)).data.every(({ event }) => event !== 'ping'))
})

test('a filter gives the events of one name, and its cursor passes the others', async () => {
  const deal = await call('POST', '/api/v1/deals', { name: 'Contract' })
  await call('POST', `/api/v1/deals/${deal.body.data.id}/change-stage`, { stage: 'won' })
  for (let n = 0; n < 3; n++) await company(call, `Beside ${n}`)
  const won = await feed('?event=deal.won')
  assert.deepEqual(
    won.data.map(({ event, data }) => [event, data.name]),
    [['deal.won', 'Contract']],
  )
  assert.equal(won.meta.has_more, false)
  assert.deepEqual((await feed(`?cursor=${won.meta.next_cursor}`)).data, [])
  assert.deepEqual((await feed('?event=deal.won&sort=-timestamp')).data, won.data)
  const all = (await feed('?per_page=100')).data
  for (const [query, names] of [
    ['deal.won,deal.created', ['deal.won', 'deal.created']],
    ['!company.created', all.flatMap(({ event }) => (event === 'company.created' ? [] : event))],
    ['deal.won,!deal.won', []],
  ] as const) {
    const expected = all.filter(({ event }) => names.some((name) => name === event))
    assert.deepEqual((await feed(`?per_page=100&event=${query}`)).data, expected, query)
    const backwards = await feed(`?per_page=100&sort=-timestamp&event=${query}`)
    assert.deepEqual(backwards.data, expected.toReversed(), query)
  }
  const { status, body } = await call('GET', `${path}?event=deal.lots`)
  assert.deepEqual([status, body.error.fields[0].field], [422, 'event'])
  for (const { name } of catalogue) assert.ok(body.error.fields[0].message.includes(name), name)
  assert.equal((await call('GET', `${path}?event=ping`)).status, 422)
})

test('a rare event is found behind very many others, in answers that each look at some of them', async () => {
  const another = await newWorkspace(service)
  const [{ id: workspace_id } = {}] = await stored.rows('SELECT max(id) AS id FROM workspaces')
  await manyEvents(Number(workspace_id), 12_000)
  for (const sort of ['timestamp', '-timestamp']) {
    const found: string[] = []
    let cursor = 'start'
    let answers = 0
    for (let more = true; more; answers++) {
      const { data, meta } = await feed(`?event=deal.won&per_page=2&sort=${sort}&cursor=${cursor}`, another)
      found.push(...data.map(({ id }) => id))
      cursor = meta.next_cursor ?? ''
      more = meta.has_more
    }
    const expected = ['evt_0', 'evt_4999', 'evt_5000', 'evt_11999']
    assert.deepEqual(found, sort === 'timestamp' ? expected : expected.toReversed(), sort)
    assert.ok(answers >= 3, `${answers}`)
  }
})

async function manyEvents(workspace_id: number, count: number) {
  const rows = Array.from({ length: count }, (_, n) => {
    const event = [0, 4999, 5000, count - 1].includes(n) ? 'deal.won' : 'deal.updated'
    const id = `evt_${n}`
    const payload = JSON.stringify({ id, event, timestamp: '2026-11-21T08:30:00.000Z', data: {} })
    return { id, workspace_id, event, occurred_at: '2026-11-21T08:30:00.000Z', record_id: null, payload }
  })
  await beside(service.data_dir, (db) =>
    transaction(db, async (tx) => {
      for (let from = 0; from < count; from += 2000)
        await tx
          .insertInto('events')
          .values(rows.slice(from, from + 2000))
          .execute()
    }),
  )
}

test('a bad cursor, page size or parameter is refused; above 100 is taken as 100', async () => {
  for (const cursor of ['x', '-1', '1.5', '99999999999999999999', '999999999', '%20', '1e3']) {
    const { status, body } = await call('GET', `${path}?cursor=${cursor}`)
    assert.deepEqual(
      [status, body.error.fields[0].field, body.error.fields[0].code],
      [422, 'cursor', 'invalid_cursor'],
      cursor,
    )
  }
  assert.equal((await call('GET', `${path}?per_page=0`)).status, 422)
  assert.equal((await call('GET', `${path}?sort=id`)).status, 422)
  assert.equal((await call('GET', `${path}?page=2`)).status, 400)
  assert.equal((await feed('?per_page=1000')).meta.per_page, 100)
})

test('the schemas of the event types have the formats and keywords that other programs know', async () => {
  const { body } = await call('GET', '/api/v1/event-types')
  const ajv = addFormats.default(new Ajv2020({ strict: true, strictTypes: false }))
  ajv.addFormat('idn-email', true)
  for (const { name, schema, example } of body.data) assert.ok(ajv.validate(schema, example), name)
})

test('the feed needs its own scope', async () => {
  const reader = await makeKey(service, { scopes: ['contacts:read', 'webhooks:read'] })
  assert.equal((await reader.call('GET', path)).status, 403)
  assert.equal((await reader.call('GET', `${path}/stream`)).status, 403)
  const follower = await makeKey(service, { scopes: ['events:read'] })
  assert.equal((await follower.call('GET', path)).status, 200)
})

test('names of a filter that the key may not read are left out', async () => {
  await company(call, 'Readable')
  const { call: reader } = await makeKey(service, { scopes: ['events:read', 'companies:read'] })
  const { data } = await feed('?event=deal.created,company.created&per_page=100', reader)
  assert.ok(data.length)
  assert.ok(data.every(({ event }) => event === 'company.created'))
  assert.deepEqual((await feed('?event=deal.created', reader)).data, [])
  const all = (await feed('?per_page=100', reader)).data
  assert.deepEqual(
    (await feed('?per_page=100&event=!company.created', reader)).data,
    all.filter(({ event }) => event !== 'company.created'),
  )
})
