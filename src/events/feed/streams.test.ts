import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { follow } from '../../../test/follower.ts'
import { openOutbox } from '../../../test/outbox.ts'
import { until } from '../../../test/webhooks.ts'
import { transaction } from '../../db/db.ts'
import { createReadRights } from '../../http/scopes.ts'
import { companyCreated } from '../../resources/companies/resource.ts'
import { resources } from '../../resources/index.ts'
import { emit } from '../emit.ts'
import { createStreams, type StreamsOptions } from './streams.ts'

const access = {
  id: 'key_test',
  actor: { kind: 'key' as const, id: 'key_test' },
  workspace_id: 1,
  scopes: ['events:read', 'companies:read'],
  expires_at: null,
}

/** Only the streams, behind a bare server: their timers and their writes. */
async function startStreams(t: TestContext, wishes: Partial<StreamsOptions> = {}) {
  const outbox = await openOutbox()
  const errors: unknown[] = []
  const streams = createStreams({
    database: outbox.database,
    clock: outbox.clock,
    findAccess: async () => access,
    rights: createReadRights(resources),
    serving: () => true,
    onError: (error) => errors.push(error),
    ...wishes,
  })
  const answers: ServerResponse[] = []
  const asked = { names: null, cursor: 0, hints: null }
  const server = createServer((_, answer) => {
    answers.push(answer)
    answer.writeHead(200)
    streams.open({ access, credential: { kind: 'key', hash: 'hash' }, scope: 'events:read' }, answer, asked)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(async () => {
    await streams.close()
    server.close()
    server.closeAllConnections()
    await outbox.close()
  })
  return { outbox, streams, url, answers, errors }
}

test('a stream that has nothing to tell sends a comment from time to time', async (t) => {
  const { url, outbox } = await startStreams(t, { heartbeat_ms: 40 })
  const stream = await follow(url, '')
  await until(
    async () => stream.frames.filter(({ comment }) => comment !== undefined).length,
    (n) => n >= 3,
  )
  await outbox.events(2)
  assert.equal((await stream.waitFor(2)).length, 2)
  stream.close()
})

test('events of which nobody tells are found by the clock', async (t) => {
  const outbox = await openOutbox()
  t.after(() => outbox.close())
  const { db } = outbox
  const { url } = await startStreams(t, { database: { db, onCommit: () => {} }, poll_ms: 50 })
  const stream = await follow(url, '')
  await outbox.events(3)
  assert.equal((await stream.waitFor(3)).length, 3)
  stream.close()
})

test('a slow client of a stream has no buffer in memory, delays no other, and gets all events later', async (t) => {
  const { url, outbox, answers } = await startStreams(t)
  const slow = await follow(url, '')
  slow.response.pause()
  const quick = await follow(url, '')
  const name = 'x'.repeat(500_000)
  const write = (id: number) =>
    transaction(outbox.db, (tx) => emit(tx, outbox.context(), companyCreated, { id, name }))
  for (let id = 1; id <= 30; id++) await write(id)
  await quick.waitFor(30)
  const [answer] = answers as [ServerResponse]
  // Of fifteen megabytes, one event may wait in the process beside what the system holds.
  assert.ok(answer.writableLength < 1_100_000, `${answer.writableLength}`)
  assert.ok(slow.events().length < 30)
  slow.response.resume()
  const ids = (await slow.waitFor(30)).map(({ data = '' }) => JSON.parse(data).data.id)
  assert.deepEqual(
    ids,
    Array.from({ length: 30 }, (_, n) => n + 1),
  )
  for (const stream of [slow, quick]) stream.close()
})

test('while the database is away streams stay open, and the error is reported once', async (t) => {
  let away = false
  const { url, outbox, errors } = await startStreams(t, {
    poll_ms: 20,
    async findAccess() {
      if (away) throw new Error('The database is away.')
      return access
    },
  })
  const stream = await follow(url, '')
  away = true
  await until(
    async () => errors.length,
    (n) => n > 0,
  )
  await pause(100)
  away = false
  await outbox.events(1)
  await stream.waitFor(1)
  assert.equal(errors.length, 1)
  stream.close()
})

test('a key that has lost its scope, or is of another workspace now, no longer follows', async (t) => {
  for (const now of [null, { ...access, scopes: ['contacts:read'] }, { ...access, workspace_id: 2 }]) {
    const { url, streams } = await startStreams(t, { findAccess: async () => now })
    const stream = await follow(url, '')
    await stream.ended
    assert.equal(streams.count(), 0)
  }
})

test('streams without a listener are forgotten, and their successors are served', async (t) => {
  const { url, outbox, streams } = await startStreams(t)
  for (let round = 1; round <= 3; round++) {
    const stream = await follow(url, '')
    await outbox.events(1)
    await stream.waitFor(round)
    stream.close()
    await until(async () => streams.count(), 0)
  }
})

test('who has left before the stream was opened leaves none behind', async (t) => {
  const { url, streams, answers } = await startStreams(t)
  const controller = new AbortController()
  const stream = await fetch(url, { signal: controller.signal })
  assert.equal(streams.count(), 1)
  controller.abort()
  await stream.text().catch(() => {})
  await until(async () => streams.count(), 0)
  // Its answer is closed already when it would be opened: 'close' will not come again.
  streams.open(
    { access, credential: { kind: 'key', hash: 'hash' }, scope: 'events:read' },
    answers[0] as ServerResponse,
    { names: null, cursor: 0, hints: null },
  )
  assert.equal(streams.count(), 0)
})

test('followers that do not read are cut off when too much waits for them, the longest first', async (t) => {
  const { url, outbox, answers } = await startStreams(t, { max_unsent_bytes: 800_000, poll_ms: 50 })
  const silent = [await follow(url, ''), await follow(url, '')]
  for (const { response } of silent) response.pause()
  const quick = await follow(url, '')
  const name = 'x'.repeat(500_000)
  const write = (id: number) =>
    transaction(outbox.db, (tx) => emit(tx, outbox.context(), companyCreated, { id, name }))
  // The system takes some megabytes for each of them before anything waits in the process.
  for (let id = 1; id <= 30; id++) await write(id)
  await quick.waitFor(30)
  await until(
    async () => answers.filter(({ destroyed }) => destroyed).length,
    (n) => n > 0,
  )
  const waiting = answers.reduce((sum, answer) => sum + (answer.destroyed ? 0 : answer.writableLength), 0)
  assert.ok(waiting < 800_000 + 600_000, `${waiting} bytes wait`)
  assert.equal(answers[2]?.destroyed, false)
  for (const one of [...silent, quick]) one.close()
})

test('a workspace may have 2,500 streams, and a process 5,000', async (t) => {
  const { streams } = await startStreams(t, { heartbeat_ms: 600_000, poll_ms: 600_000 })
  const request = new IncomingMessage(new Socket())
  const open = (workspace_id: number, n: number) =>
    streams.open(
      {
        access: { ...access, workspace_id, id: `key_${workspace_id}_${n}` },
        credential: { kind: 'key', hash: 'hash' },
        scope: 'events:read',
      },
      new ServerResponse(request),
      { names: null, cursor: 0, hints: null },
    )
  for (let n = 0; n < 2500; n++) open(1, n)
  assert.throws(() => streams.admit(access), { code: 'rate_limited', headers: { 'retry-after': '5' } })
  const elsewhere = { ...access, workspace_id: 3 }
  streams.admit(elsewhere)
  for (let n = 0; n < 2500; n++) open(2, n)
  assert.throws(() => streams.admit(elsewhere), { code: 'unavailable', headers: { 'retry-after': '5' } })
})
