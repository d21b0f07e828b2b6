// runs: both
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { companyUpdated } from '../../src/resources/companies/resource.ts'
import { emitMany } from '../backlog.ts'
import { newWorkspace } from '../database.ts'
import { engine, removeScratch } from '../engine.ts'
import { client, type Rapport, startRapport, useRapport } from '../harness.ts'
import { beside } from '../keys.ts'
import { type Answer, type Received, startReceiver, useReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { act, type Call, company, log, register, total, until, webhook } from '../webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()

type Seen = { record: number; sequence: number; ok: boolean }
const eventOf = ({ body }: Received) =>
  JSON.parse(body) as { sequence: number; data: { id: number; name: string } }

/** Answers each request after some milliseconds, and tells when two of one record are in flight. */
function watching(isRefused: (number: number, request: Received) => boolean) {
  const seen: Seen[] = []
  const in_flight = new Set<number>()
  const problems: string[] = []
  const answering = (request: Received, number: number): Answer => {
    const { sequence, data } = eventOf(request)
    if (in_flight.has(data.id)) problems.push(`two of record ${data.id} at once, the second is ${sequence}`)
    in_flight.add(data.id)
    const ok = !isRefused(number, request)
    const last = seen.findLast(({ record }) => record === data.id)
    if (last && (last.ok ? sequence <= last.sequence : sequence !== last.sequence))
      problems.push(
        `record ${data.id}: ${sequence} after ${last.sequence}, which was ${last.ok ? 'sent' : 'refused'}`,
      )
    seen.push({ record: data.id, sequence, ok })
    const done = pause(number % 5).then(() => void in_flight.delete(data.id))
    return { status: ok ? 200 : 500, after: done }
  }
  return { answering, seen, problems }
}

/** Changes each company as often as wanted, in batches through several processes in turn. */
async function changes(calls: readonly Call[], records: number, events: number): Promise<void> {
  const send = async (call: Call | undefined, items: object[]) => {
    const reply = await call?.('POST', '/api/v1/companies/batch', { items })
    assert.equal(reply?.status, 200, reply?.text)
    return reply?.body.data as { id: number }[]
  }
  const created = Array.from({ length: records }, (_, n) => ({ op: 'create', data: { name: `Acme ${n}` } }))
  const ids = (await send(calls[0], created)).map(({ id }) => id)
  for (let n = 1; n < events; n++)
    await send(
      calls[n % calls.length],
      ids.map((id) => ({ op: 'update', id, data: { phone: `${n}` } })),
    )
}

// RAPPORT_FIFO=full is the long version: 10,000 events and four processes.
const full = process.env.RAPPORT_FIFO === 'full'
const [records, of_record, processes] = full ? [200, 50, 4] : [100, 10, 2]

const timeout = full ? 600_000 : 180_000

test('with a receiver that fails one in ten, each record gets all its events in order, from several processes', {
  timeout,
}, async (t) => {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-fifo-'))
  t.after(() => removeScratch(data_dir))
  const all: Rapport[] = []
  for (let n = 0; n < (engine === 'postgres' ? processes : 1); n++) all.push(await startRapport({ data_dir }))
  t.after(() => Promise.all(all.map((one) => one.close())))
  const key = all[0]?.key ?? ''
  const calls = all.map(({ url }) => client(url, key))
  const { answering, seen, problems } = watching((number) => number % 10 === 0)
  const own = await useFor(t, startReceiver({ answer: answering }))
  const [call] = calls as [Call]
  const retry_delays = Array(10).fill(1)
  const { id } = await register(call, { url: own.url, events: ['company.*'], ordered: true, retry_delays })
  assert.equal((await webhook(call, id)).ordered, true)
  await changes(calls, records, of_record)
  await until(() => total(call, `webhook_id=${id}&status=pending`), 0, timeout - 60_000)
  assert.deepEqual(problems, [])
  const sent = seen.filter(({ ok }) => ok)
  assert.equal(sent.length, records * of_record)
  assert.equal(new Set(sent.map(({ record }) => record)).size, records)
  assert.equal(await total(call, `webhook_id=${id}&status=succeeded`), records * of_record)
})

const update = (call: Call, id: number, phone: string) => call('PUT', `/api/v1/companies/${id}`, { phone })

test('a delivery that fails holds back its record, until it has failed for good, and no other record', async () => {
  const call = await newWorkspace(rapport)
  let bad = 0
  const { answering, seen, problems } = watching((_, request) => eventOf(request).sequence === bad)
  // The retry is held, so that no slow machine gets beyond it.
  const released = Promise.withResolvers<void>()
  receiver.answering = (request, number) => {
    bad ||= eventOf(request).sequence
    const is_retry = seen.some(({ sequence }) => sequence === eventOf(request).sequence)
    const answer = answering(request, number) as Exclude<Answer, string>
    return is_retry ? { ...answer, after: Promise.all([answer.after, released.promise]) } : answer
  }
  const { id } = await register(call, {
    url: receiver.url,
    events: ['company.*'],
    ordered: true,
    retry_delays: [1],
    timeout_ms: 30_000,
  })
  const first = await company(call)
  await until(async () => seen.length, 1)
  await update(call, first.id, '1')
  const other = await company(call, 'Other')
  await update(call, other.id, '1')
  await update(call, first.id, '2')
  const of = (record: number) => seen.filter((one) => one.record === record)
  await until(async () => of(other.id).length, 2)
  assert.ok(of(first.id).every(({ sequence }) => sequence === bad))
  released.resolve()
  await until(() => total(call, `webhook_id=${id}&status=succeeded`), 4)
  assert.deepEqual(
    of(first.id).map(({ sequence, ok }) => [sequence === bad, ok]),
    [
      [true, false],
      [true, false],
      [false, true],
      [false, true],
    ],
  )
  // The watcher expects no event after one that was refused. Here, that one has failed.
  assert.equal(problems.length, 1)
})

test('resent deliveries are sent in order too, and none beside another one of its record', async () => {
  const call = await newWorkspace(rapport)
  receiver.answering = () => ({ status: 500 })
  const { id } = await register(call, {
    url: receiver.url,
    events: ['company.*'],
    ordered: true,
    retry_delays: [],
  })
  const { id: record } = await company(call)
  for (const phone of ['1', '2']) await update(call, record, phone)
  const failed = await until(
    () => log(call, `webhook_id=${id}&status=failed`),
    ({ length }) => length === 3,
  )
  const released = Promise.withResolvers<void>()
  receiver.answering = () => ({ after: released.promise })
  const before = receiver.received.length
  await update(call, record, '3')
  await receiver.waitFor(before + 1)
  assert.equal((await act(call, id, 'resend-failed')).count, failed.length)
  await pause(300)
  assert.equal(receiver.received.length, before + 1)
  const { answering, seen, problems } = watching(() => false)
  receiver.answering = answering
  released.resolve()
  await until(async () => seen.length, 3)
  assert.deepEqual(problems, [])
})

test('without the order, the deliveries behind one that waits for its retry are sent at once', async () => {
  const call = await newWorkspace(rapport)
  receiver.received.length = 0
  let first = 0
  receiver.answering = (request) => {
    first ||= eventOf(request).sequence
    return { status: eventOf(request).sequence === first ? 500 : 200 }
  }
  const { id } = await register(call, {
    url: receiver.url,
    events: ['company.*'],
    ordered: true,
    retry_delays: [3600],
  })
  const { id: record } = await company(call)
  await receiver.waitFor(1)
  // More than a batch of the release.
  for (let n = 0; n < 500; n += 250) {
    const items = Array.from({ length: 250 }, (_, m) => ({
      op: 'update',
      id: record,
      data: { phone: `${n + m}` },
    }))
    assert.equal((await call('POST', '/api/v1/companies/batch', { items })).status, 200)
  }
  // A search has postponed all of them to the retry.
  const until_retry = () =>
    beside(rapport.data_dir, async (db) => {
      const rows = await db
        .selectFrom('webhook_queue')
        .select('run_at_ms')
        .where('webhook_id', '=', id)
        .execute()
      return [rows.length, new Set(rows.map(({ run_at_ms }) => run_at_ms)).size]
    })
  await until(until_retry, ([rows, times]) => rows === 501 && times === 1)
  assert.equal(receiver.received.length, 1)
  assert.equal((await call('PUT', `/api/v1/webhooks/${id}`, { ordered: false })).status, 200)
  await receiver.waitFor((all) => all.length === 501)
  assert.equal(await until(() => total(call, `webhook_id=${id}&status=pending`), 1), 1)
  await call('DELETE', `/api/v1/webhooks/${id}`)
})

test('a queue of 3,000 events of one record that hangs does not delay another record', async () => {
  const call = await newWorkspace(rapport)
  const released = Promise.withResolvers<void>()
  receiver.received.length = 0
  receiver.answering = (request) => (eventOf(request).data.id === 999_999 ? { after: released.promise } : {})
  const { id } = await register(call, {
    url: receiver.url,
    events: ['company.*'],
    ordered: true,
    timeout_ms: 30_000,
  })
  const { id: known } = await company(call)
  const workspace_id = await beside(rapport.data_dir, async (db) => {
    const { workspace_id } = await db
      .selectFrom('webhooks')
      .select('workspace_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return workspace_id
  })
  const records = Array.from({ length: 3000 }, (_, n) => ({ id: 999_999, name: `${n}` }))
  await emitMany(rapport.data_dir, companyUpdated, records, workspace_id)
  await receiver.waitFor((all) => all.some((one) => eventOf(one).data.id === 999_999))
  await update(call, known, '1')
  await receiver.waitFor((all) => all.filter((one) => eventOf(one).data.id === known).length === 2)
  // The first attempt of the other record still hangs. Its timeout is 30 s.
  assert.equal(receiver.received.filter((one) => eventOf(one).data.id === 999_999).length, 1)
  await call('DELETE', `/api/v1/webhooks/${id}`)
  released.resolve()
})
