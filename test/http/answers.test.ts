// biome-ignore-all lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { transaction } from '../../src/db/db.ts'
import { dataOf } from '../envelope.ts'
import { callOf, type Reply, useRapport } from '../harness.ts'
import { beside, makeKey } from '../keys.ts'
import { startReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { until } from '../webhooks.ts'

const rapport = useRapport({ env: { WEBHOOK_RETRY_DELAYS: 'none' } })
const call = callOf(rapport)

const mebibyte = 1024 * 1024
const api = '/api/v1'
const bytesOf = (reply: Reply) => Buffer.byteLength(reply.text)

const answered = async (method: string, path: string, body?: object): Promise<any> =>
  dataOf(await call(method, api + path, body))
const contact = async () => (await answered('POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz' })).id

/** Changes an appointment's notes again and again: each event has the notes before and after, half a megabyte. */
async function largeEvents(count: number) {
  const times = { start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' }
  const { id } = await answered('POST', '/appointments', { title: 'Demo', ...times })
  for (let n = 0; n < count; n++)
    await answered('PUT', `/appointments/${id}`, { notes: '🙂'.repeat(65_530) + String(n).padStart(5, '0') })
  return id
}

test('a page of large events ends early and says where to go on, in both directions and by name: nothing is lost', async () => {
  await largeEvents(40)
  for (const query of ['', '&event=appointment.updated', '&sort=-timestamp']) {
    const ids: string[] = []
    let cursor: string | null = 'start'
    let pages = 0
    for (let more = true; more; pages++) {
      const reply: Reply = await call(
        'GET',
        `${api}/events?per_page=100${query}${cursor && `&cursor=${cursor}`}`,
      )
      assert.equal(reply.status, 200)
      assert.ok(bytesOf(reply) < 3 * mebibyte, `${bytesOf(reply)} bytes`)
      assert.ok(reply.body.data.length > 0)
      ids.push(...reply.body.data.map(({ id }: { id: string }) => id))
      cursor = reply.body.meta.next_cursor
      more = reply.body.meta.has_more
    }
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(ids.length, query.includes('event=') ? 40 : 41)
    assert.ok(pages > 5, `${pages} pages`)
  }
})

test('notes of a contact that are too many for one answer come in parts: the newest first, with next_cursor', async () => {
  const id = await contact()
  const bodies = Array.from({ length: 60 }, (_, n) => `${n} ${'é€'.repeat(32_000)}`)
  for (const body of bodies) await answered('POST', `/contacts/${id}/notes`, { body })
  const first = await call('GET', `${api}/contacts/${id}/notes`)
  assert.ok(bytesOf(first) <= 8 * mebibyte)
  const { meta } = first.body
  assert.equal(meta.total, 60)
  assert.equal(meta.per_page, first.body.data.length)
  assert.equal(meta.last_page, 2)
  const rest = await call('GET', `${api}/contacts/${id}/notes?cursor=${meta.next_cursor}`)
  assert.ok(bytesOf(rest) <= 8 * mebibyte)
  assert.deepEqual(rest.body.meta, { per_page: rest.body.data.length, next_cursor: null })
  assert.deepEqual(
    [...first.body.data, ...rest.body.data].map(({ body }: { body: string }) => body),
    bodies.toReversed(),
  )
  assert.equal((await call('GET', `${api}/contacts/${id}/notes?cursor=x`)).status, 422)
})

test('notes of characters that JSON writes in six bytes stay within an answer too', async () => {
  const id = await contact()
  for (let n = 0; n < 30; n++)
    await answered('POST', `/contacts/${id}/notes`, { body: `\u0001${n}`.padEnd(65_535, '\u0001') })
  const ids: number[] = []
  let cursor: string | null = 'start'
  while (cursor !== null) {
    const reply: Reply = await call('GET', `${api}/contacts/${id}/notes?cursor=${cursor}`)
    assert.ok(bytesOf(reply) <= 8 * mebibyte)
    ids.push(...reply.body.data.map((note: { id: number }) => note.id))
    cursor = reply.body.meta.next_cursor
  }
  assert.equal(new Set(ids).size, 30)
})

test('a history of long texts comes in pages of about 2 MiB, and misses none', async () => {
  const path = `/contacts/${await contact()}/notes`
  const { id } = await answered('POST', path, { body: '€'.repeat(65_535) })
  for (let n = 0; n < 19; n++)
    await answered('PUT', `${path}/${id}`, { body: `${n}`.padEnd(65_535, '\u0001') })
  let [texts, pages] = [0, 0]
  for (let cursor: string | null = 'start'; cursor !== null; pages++) {
    const reply: Reply = await call('GET', `${api}${path}/${id}/history?cursor=${cursor}`)
    assert.ok(bytesOf(reply) <= 2.5 * mebibyte, `${bytesOf(reply)}`)
    texts += reply.body.data.length
    cursor = reply.body.meta.next_cursor
  }
  assert.equal(texts, 20)
  assert.ok(pages > 2 && pages < 8, `${pages}`)
})

test('a timeline of long notes ends early and says where to go on', async () => {
  const id = await contact()
  for (let n = 0; n < 30; n++) await answered('POST', `/contacts/${id}/notes`, { body: '€'.repeat(65_535) })
  const ids: string[] = []
  let cursor: string | null = 'start'
  while (cursor !== null) {
    const path = `${api}/contacts/${id}/timeline?per_page=100&cursor=${cursor}`
    const reply: Reply = await call('GET', path)
    assert.ok(bytesOf(reply) <= 4 * mebibyte, `${bytesOf(reply)}`)
    ids.push(...reply.body.data.map((entry: any) => `${entry.type} ${entry.id}`))
    cursor = reply.body.meta.next_cursor
  }
  assert.equal(new Set(ids).size, ids.length)
  assert.equal(ids.filter((entry) => entry.startsWith('note ')).length, 30)
})

test('a list leaves long fields out, never cut or empty: what a client sends back changes nothing', async () => {
  const notes = 'n'.repeat(10_000)
  const times = { start_at: '2030-02-08T12:00:00Z', end_at: '2030-02-08T13:00:00Z' }
  const long = await answered('POST', '/appointments', { title: 'Long', notes, ...times })
  const short = await answered('POST', '/appointments', { title: 'Short', notes: 'short', ...times })
  const listed = await answered('GET', '/appointments?created_from=2020-01-01T00:00:00Z&per_page=2')
  // Lists have neither the deal, nor the hosts, nor the guests.
  const unlisted = ['deal_id', 'host_ids', 'guest_ids']
  const without = (record: object, names: string[]) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
  assert.deepEqual(listed[0], without(short, unlisted))
  assert.deepEqual(listed[1], without(long, ['notes', ...unlisted]))
  assert.deepEqual(await answered('PUT', `/appointments/${long.id}`, listed[1]), long)
})

test('the audit log lists entries without their long sides, and shows one with them', async () => {
  const id = await contact()
  const body = 'b'.repeat(60_000)
  const note = await answered('POST', `/contacts/${id}/notes`, { body })
  await answered('PUT', `/contacts/${id}/notes/${note.id}`, { body: 'short' })
  const [updated, created] = await answered('GET', `/audit-log?kind=notes&record_id=${note.id}`)
  assert.equal('before' in updated, false)
  assert.deepEqual(updated.after, { body: 'short' })
  assert.equal('after' in created, false)
  assert.equal(created.before, null)
  const whole = await answered('GET', `/audit-log/${updated.id}`)
  assert.deepEqual(whole, { ...updated, before: { body } })
  const timeline = await answered('GET', `/audit-log/${created.id}`)
  assert.deepEqual(timeline.after, { contact_id: id, body })
  assert.equal((await call('GET', `${api}/audit-log/999999`)).status, 404)
})

test('the stages of a deal that were changed more than 2,000 times come in parts, with the time of each', async () => {
  const { id } = await answered('POST', '/deals', { name: 'Signs' })
  const moves = Array.from({ length: 2010 }, (_, n) => ({
    workspace_id: 1,
    deal_id: id,
    from_stage: n % 2 ? 'demo' : 'new_lead',
    to_stage: n % 2 ? 'new_lead' : 'demo',
    changed_at: new Date(Date.parse('2030-01-01T00:00:00Z') + n * 60_000).toISOString(),
    changed_by: 'service',
  }))
  await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      for (const row of moves) await tx.insertInto('deal_stages').values(row).execute()
    }),
  )
  const first = await call('GET', `${api}/deals/${id}/stages`)
  const { next_cursor, ...meta } = first.body.meta
  assert.deepEqual(meta, { current_page: 1, last_page: 2, per_page: 2000, total: 2011 })
  const rest = await call('GET', `${api}/deals/${id}/stages?cursor=${next_cursor}`)
  assert.deepEqual(rest.body.meta, { per_page: 11, next_cursor: null })
  const stays = [...first.body.data, ...rest.body.data]
  stays.forEach(({ left_at }, n) => {
    assert.equal(left_at, stays[n + 1]?.entered_at ?? null)
  })
})

test('a delivery shows a large body once, in its newest attempt, and a small one in every attempt', async (t) => {
  const receiver = await useFor(t, startReceiver({ answer: { status: 500 } }))
  const events = ['appointment.updated', 'company.created']
  const { id } = await answered('POST', '/webhooks', { url: receiver.url, events })
  await answered('POST', '/companies', { name: 'Acme' })
  await largeEvents(2)
  for (const event of ['company.created', 'appointment.updated']) {
    const path = `/deliveries?webhook_id=${id}&event=${event}`
    const failed = async () => (await answered('GET', path)).filter((one: any) => one.status === 'failed')
    const [delivery] = await until(failed, (all) => all.length > 0)
    for (let n = 2; n <= 4; n++) {
      await answered('POST', `/deliveries/${delivery.id}/resend`, {})
      const read = () => answered('GET', `/deliveries/${delivery.id}`)
      await until(read, ({ attempt_count, status }) => attempt_count === n && status === 'failed')
    }
    const reply = await call('GET', `${api}/deliveries/${delivery.id}`)
    const bodies = reply.body.data.attempts.map(({ request }: any) => request.body)
    assert.equal(JSON.parse(bodies[3]).event, event)
    const large = event === 'appointment.updated'
    assert.deepEqual(bodies.slice(0, 3), large ? [null, null, null] : Array(3).fill(bodies[3]))
    assert.ok(bytesOf(reply) < mebibyte, `${bytesOf(reply)}`)
  }
})

test('a key whose slow readers hold 16 MiB of answers gets 503; another key gets its large answer', async (t) => {
  const id = await contact()
  const path = `${api}/contacts/${id}/notes`
  for (let n = 0; n < 40; n++) await answered('POST', path.slice(api.length), { body: '€'.repeat(65_535) })
  const slow = await makeKey(rapport)
  const other = await makeKey(rapport)
  for (let n = 0; n < 8; n++) {
    const socket = connect(Number(new URL(rapport.url).port), '127.0.0.1')
    t.after(() => socket.destroy())
    socket.pause()
    await once(socket, 'connect')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${slow.token}\r\n\r\n`)
  }
  const refused = await until(() => slow.call('GET', path), { status: 503 })
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal((await slow.call('GET', `${api}/contacts/${id}`)).status, 200)
  const reply = await other.call('GET', path)
  assert.equal(reply.status, 200)
  assert.ok(bytesOf(reply) > 6 * mebibyte)
})
