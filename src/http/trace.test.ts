// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import type { Tracer } from '../telemetry/tracer.ts'
import { createServer } from './server.ts'
import { traceIdOf, traceparentOf } from './trace.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'

test('a valid traceparent is taken as version 00', () => {
  const valid = `00-${trace}-${parent}-01`
  assert.equal(traceparentOf({ traceparent: valid }), valid)
  assert.equal(traceIdOf({ traceparent: valid }), trace)
  // A later version may append fields.
  assert.equal(traceparentOf({ traceparent: `cc-${trace}-${parent}-01-what-is-next` }), valid)
})

test('an invalid traceparent is ignored', () => {
  for (const traceparent of [
    undefined,
    '',
    'x',
    `ff-${trace}-${parent}-01`,
    `00-${trace}-${parent}-01-more`,
    `00-${trace}-${parent}-1`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
    ` 00-${trace}-${parent}-01`,
  ])
    assert.equal(traceparentOf({ traceparent }), null, String(traceparent))
})

test('log lines of a request have its trace id', async (t) => {
  for (const level of ['info', 'warn']) {
    const lines: { trace_id?: string }[] = []
    const write = (line: string) => {
      assert.ok(line.split('"trace_id"').length <= 2, line)
      lines.push(JSON.parse(line))
    }
    const logger = pino({ level }, { write })
    const app = createServer(logger as never)
    t.after(() => app.close())
    app.get('/work', async () => {
      throw new Error('broken')
    })
    await app.inject({ url: '/work', headers: { traceparent: `00-${trace}-${parent}-01` } })
    assert.ok(lines.length > 0)
    assert.deepEqual([...new Set(lines.map(({ trace_id }) => trace_id))], [trace], level)
    lines.length = 0
    await app.inject({ url: '/work', headers: { traceparent: 'nonsense' } })
    assert.ok(lines.length > 0 && lines.every((line) => !('trace_id' in line)))
  }
})

test('with a collector, each log line of a request without a traceparent has the new trace id once', async (t) => {
  const begun = `00-${trace}-${parent}-01`
  const tracer: Tracer = {
    start: () => ({ traceparent: begun, end() {} }),
    dropped: () => 0,
    async close() {},
  }
  for (const level of ['info', 'warn']) {
    const lines: string[] = []
    const logger = pino({ level }, { write: (line: string) => void lines.push(line) })
    const app = createServer(logger as never, { tracer })
    t.after(() => app.close())
    app.get('/work', async () => {
      throw new Error('broken')
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    lines.length = 0
    assert.equal((await fetch(`${url}/work`)).status, 500)
    const until_ms = performance.now() + 60_000
    const expected = level === 'info' ? 3 : 1
    while (lines.length < expected && performance.now() < until_ms) await pause(2)
    assert.equal(lines.length, expected)
    for (const line of lines) {
      assert.equal(line.split('"trace_id"').length, 2, line)
      assert.equal(JSON.parse(line).trace_id, trace)
    }
  }
})
