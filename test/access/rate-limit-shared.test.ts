// runs: once
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type Socket } from 'node:net'
import { beforeEach, type TestContext, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Allowance } from '../../src/http/rate-limit.ts'
import { default_limits_ms, openSharedLimiter, type SharedLimiter } from '../../src/http/shared-rate-limit.ts'
import { calmTime } from '../calm-time.ts'
import { refused } from '../envelope.ts'
import { type Reply, startRapport, turnableClock } from '../harness.ts'
import { makeKey } from '../keys.ts'
import { startRedis } from '../redis.ts'

const clock = { now: () => Date.now(), elapsed: () => performance.now() }
const path = '/api/v1/companies'
const ok = (allowance: Allowance) => allowance.retry_after_seconds === 0
const shown = ({ headers }: Reply) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`))

// On a busy machine, a Redis that works may need longer than the limits of the service. Their tests set them.
const patient_limits_ms = { answer: 60_000, connect: 60_000 }
const limits_ms = { ...patient_limits_ms }
beforeEach(() => {
  Object.assign(limits_ms, patient_limits_ms)
})

/** A limiter as one process has it, and the lines that it logged. */
async function oneProcess(t: TestContext, redis_url: string, per_second: number) {
  const lines: string[] = []
  const details: object[] = []
  const warn = (detail: object, line: string) => {
    lines.push(line)
    details.push(detail)
  }
  const limiter = await openSharedLimiter({ redis_url, per_second, clock, logger: { warn }, limits_ms })
  t.after(() => limiter?.close())
  return { limiter, lines, details, ask: async (key: string) => (limiter as SharedLimiter).limit(key) }
}
type Process = Awaited<ReturnType<typeof oneProcess>>

/** Asks the processes in turn for a key, all at once; how many were allowed. */
async function flood(processes: Process[], key: string, count: number): Promise<number> {
  const asked = Array.from({ length: count }, (_, index) => processes[index % processes.length]!.ask(key))
  return (await Promise.all(asked)).filter(ok).length
}

/** More than a bucket holds at 20 a second; `buckets`: how many the processes have among them. */
async function assertBurst(processes: Process[], key: string, buckets: number): Promise<void> {
  const start = performance.now()
  const allowed = await flood(processes, key, 200)
  const back = ((performance.now() - start) / 1000) * 20 + 1
  assert.ok(allowed >= 40 * buckets && allowed <= (40 + back) * buckets, `${allowed} were allowed`)
}

async function until(what: string, happened: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 60_000; !(await happened()); await pause(20))
    assert.ok(performance.now() < deadline, `never: ${what}`)
}

/**
 * Repeats work with another key until it takes less than 1 s: buckets fill with time, and a busy machine may take longer.
 * The time of `prepare` is not part of it.
 */
async function withinSecond<T>(work: (key: string) => Promise<T>, prepare?: () => Promise<void>): Promise<T> {
  for (let tries = 0; tries < 100; tries++) {
    await prepare?.()
    const start = performance.now()
    const result = await work(`key ${tries}`)
    if (performance.now() - start < 1000) return result
  }
  return assert.fail('never within 1 s')
}

test('processes share the burst of a key: twice the rate, however they divide it; another key has its own', async (t) => {
  const { url } = await startRedis(t)
  const [one, two] = [await oneProcess(t, url, 20), await oneProcess(t, url, 20)]
  await assertBurst([one, two], 'key', 1)
  await assertBurst([one, two], 'other', 1)
  assert.deepEqual([one.lines, two.lines], [[], []])
})

test('after the burst, all processes together get exactly the rate', async (t) => {
  const { url } = await startRedis(t)
  const processes = [await oneProcess(t, url, 20), await oneProcess(t, url, 20)]
  /** Empties the bucket. It was empty at a moment from `from` to `to`. */
  const empty = async () => {
    const from = performance.now()
    const allowed = await flood(processes, 'key', 100)
    return { from, allowed, to: performance.now() }
  }
  const first = await empty()
  let last = first
  let allowed = 0
  while (last.to - first.to < 1500) {
    await pause(50)
    last = await empty()
    allowed += last.allowed
  }
  const least = ((last.from - first.to) / 1000) * 20 - 1
  const most = ((last.to - first.from) / 1000) * 20 + 1
  assert.ok(allowed >= least && allowed <= most, `${allowed} were allowed, not ${least} to ${most}`)
})

test('a request costs one round trip to Redis', async (t) => {
  const redis = await startRedis(t)
  const process = await oneProcess(t, redis.url, 20)
  await redis.command('CONFIG', 'RESETSTAT')
  await flood([process], 'key', 100)
  const stats: string = await redis.command('INFO', 'commandstats')
  assert.match(stats, /cmdstat_eval:calls=100,/)
  // The rest is what the script itself does, and what asks for the numbers.
  const called = [...stats.matchAll(/^cmdstat_([a-z]+)/gm)].map(([, name]) => name).sort()
  const by_script = ['eval', 'hmget', 'hset', 'pexpire', 'time']
  const by_asking = ['client', 'config', 'hello', 'info']
  assert.deepEqual(
    called.filter((name) => !by_asking.includes(String(name))),
    by_script,
  )
})

test('what Redis keeps of a key goes when its bucket is full again, and is all it keeps', async (t) => {
  const redis = await startRedis(t)
  const process = await oneProcess(t, redis.url, 20)
  const forgotten = () =>
    until('Redis has forgotten all keys', async () => (await redis.command('DBSIZE')) === 0)
  const { key, kept, left } = await withinSecond(async (key) => {
    await flood([process], key, 60)
    const kept = await redis.command('KEYS', '*')
    return { key, kept, left: Number(await redis.command('PTTL', `rapport:rate:${key}`)) }
  }, forgotten)
  assert.deepEqual(kept, [`rapport:rate:${key}`])
  assert.ok(left > 1000 && left <= 2000, `${left} ms`)
  await forgotten()
  assert.equal((await process.ask('key')).remaining, 39)
})

test('a clock of Redis that is turned back neither locks a key out nor gives it more', async (t) => {
  const redis = await startRedis(t)
  const process = await oneProcess(t, redis.url, 2)
  const in_an_hour = String(Date.now() + 3_600_000)
  await redis.command('HSET', 'rapport:rate:key', 'tokens', '0', 'at', in_an_hour)
  const start = performance.now()
  assert.equal(ok(await process.ask('key')), false)
  await until('a request is allowed', async () => ok(await process.ask('key')))
  const allowed = 1 + (await flood([process], 'key', 10))
  const most = ((performance.now() - start) / 1000) * 2
  assert.ok(allowed <= most, `${allowed} were allowed, not ${most}`)
})

test('a service tells the shared allowance in its headers, and 429 when another process has used it', async (t) => {
  const { url } = await startRedis(t)
  const rapport = await startRapport({
    redis_limits_ms: limits_ms,
    env: { RATE_LIMIT_PER_SECOND: '1', REDIS_URL: url },
  })
  t.after(rapport.close)
  const other = await oneProcess(t, url, 1)
  const { key, first, allowed, reply } = await withinSecond(async (name) => {
    const key = await makeKey(rapport, { name })
    const first = await key.call('GET', path)
    const allowed = ok(await other.ask(key.id))
    return { key, first, allowed, reply: await key.call('POST', path, { name: key.id }) }
  })
  assert.deepEqual([shown(first), allowed], [['2', '1', '1'], true])
  refused(reply, 429, 'rate_limited')
  assert.deepEqual([...shown(reply), reply.headers.get('retry-after')], ['2', '0', '2', '1'])
  await pause(1000)
  const { status, body } = await key.call('GET', path)
  assert.deepEqual([status, body.data.filter(({ name }: { name: string }) => name === key.id)], [200, []])
  // Scopes are looked at after the limit, as ever.
  const reader = await makeKey(rapport, { scopes: ['contacts:read'] })
  const forbidden = await reader.call('GET', path)
  refused(forbidden, 403, 'forbidden')
  assert.deepEqual(shown(forbidden), ['2', '1', '1'])
})

test('when Redis dies, each process limits by itself and says so once; when it is back, they share again', async (t) => {
  const redis = await startRedis(t)
  const processes = [await oneProcess(t, redis.url, 20), await oneProcess(t, redis.url, 20)]
  await flood(processes, 'key', 100)
  await redis.stop()
  // During the requests: requests in flight are answered, too.
  await assertBurst(processes, 'key', 2)
  for (const { lines } of processes) assert.match(lines.join(), /^Redis does not answer[^,]*$/)
  await pause(1500)
  for (const { lines } of processes) assert.equal(lines.length, 1)

  await redis.start()
  await until('both share again', async () => {
    await flood(processes, 'another', 2)
    return processes.every(({ lines }) => lines.length === 2)
  })
  for (const { lines } of processes) assert.match(String(lines[1]), /^Redis answers again/)
  await assertBurst(processes, 'third', 1)
})

test('a Redis that hangs holds requests up for a moment once, not each of them, and a stop not at all', async (t) => {
  const redis = await startRedis(t)
  const rapport = await startRapport({
    redis_limits_ms: limits_ms,
    env: { RATE_LIMIT_PER_SECOND: '2', REDIS_URL: redis.url },
  })
  t.after(rapport.close)
  const left = async () => Number((await rapport.call('GET', path)).headers.get('ratelimit-remaining'))
  assert.equal(await left(), 3)
  // The key expires after 2 s, when its bucket is full again.
  const counts = async () => {
    await Promise.all([left(), left(), left(), left()])
    return (await redis.command('DBSIZE')) === 1
  }
  await until('Redis counts', counts)
  Object.assign(limits_ms, default_limits_ms)
  redis.hang()
  t.after(redis.goOn)
  const { value: first, ...waited } = await calmTime(() => rapport.call('GET', path))
  assert.equal(first.status, 200)
  assert.ok(waited.took_ms >= 90 && waited.calm_ms < 1000, `${waited.took_ms} ms`)
  const { calm_ms } = await calmTime(async () => {
    for (let index = 0; index < 20; index++) await left()
  })
  // Held up one by one, they would take 1.8 s.
  assert.ok(calm_ms < 1500, `${calm_ms} ms`)

  Object.assign(limits_ms, patient_limits_ms)
  redis.goOn()
  // It still counts what had been sent to it.
  await until('Redis has forgotten the key', async () => (await redis.command('DBSIZE')) === 0)
  await until('Redis counts again', counts)
  Object.assign(limits_ms, default_limits_ms)
  redis.hang()
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<unknown>()
  subscribe('http.server.request.start', arrive)
  const request = rapport.call('GET', path)
  await arrived
  unsubscribe('http.server.request.start', arrive)
  await pause(20)
  const stop = await calmTime(() => rapport.stop())
  assert.ok(stop.calm_ms < 2000, `${stop.calm_ms} ms`)
  // Answered by the process's own bucket, which may be empty by now.
  assert.ok([200, 429].includes((await request).status))
})

test('a busy process does not take its own pause for one of Redis', async (t) => {
  const { url } = await startRedis(t)
  const process = await oneProcess(t, url, 20)
  Object.assign(limits_ms, default_limits_ms)
  const answer = process.ask('key')
  // The client sends at the end of this turn, so an answer is read only after the pause.
  await turn()
  for (const until = performance.now() + 1000; performance.now() < until; );
  assert.equal((await answer).remaining, 39)
  assert.deepEqual(process.lines, [])
})

test('a service starts and limits by itself when Redis is not there, or never answers; it joins when Redis comes', async (t) => {
  const redis = await startRedis(t)
  await redis.stop()
  const sockets = new Set<Socket>()
  const mute = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    mute.close()
  })
  await until('listens', () => mute.listening)
  const mute_url = `redis://127.0.0.1:${(mute.address() as { port: number }).port}`
  Object.assign(limits_ms, default_limits_ms)
  // Its clock stands still, so its bucket does not fill.
  const clock = turnableClock()
  for (const url of [redis.url, mute_url]) {
    const rapport = await startRapport({
      clock,
      redis_limits_ms: limits_ms,
      env: { RATE_LIMIT_PER_SECOND: '1', REDIS_URL: url },
    })
    t.after(rapport.close)
    assert.deepEqual(shown(await rapport.call('GET', path)), ['2', '1', '1'])
    await rapport.call('GET', path)
    refused(await rapport.call('GET', path), 429, 'rate_limited')
  }
  const late = await oneProcess(t, redis.url, 20)
  assert.equal((await late.ask('key')).remaining, 39)
  Object.assign(limits_ms, patient_limits_ms)
  await redis.start()
  await until('Redis counts', async () => {
    await flood([late], 'key', 60)
    return (await redis.command('DBSIZE')) === 1
  })
  assert.equal(late.lines.length, 2)
})

test('an address that is not a Redis server is logged without its password, and limits per process remain', async (t) => {
  const process = await oneProcess(t, 'redis://user:secret@127.0.0.1:1/not-a-number', 20)
  assert.equal(process.limiter, null)
  assert.match(process.lines.join(), /^REDIS_URL is not a Redis address/)
  const unreachable = await oneProcess(t, 'redis://user:secret@127.0.0.1:1/0', 20)
  assert.equal((await unreachable.ask('key')).remaining, 39)
  for (const { details } of [process, unreachable])
    for (const detail of details) assert.doesNotMatch(inspect(detail, { depth: 10 }), /secret/)
})

test('a limit of 0 asks no Redis', async (t) => {
  assert.equal((await oneProcess(t, 'redis://127.0.0.1:1', 0)).limiter, null)
})
