// runs: once
import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { describe, type TestContext, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { openTracer } from '../src/telemetry/open.ts'
import { calmTime } from './calm-time.ts'
import { client, startRapport } from './harness.ts'
import { type Answer, startReceiver } from './receiver.ts'
import { useFor } from './use.ts'
import { log, register, until } from './webhooks.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const traceparent = `00-${trace}-${parent}-01`

let exporter_loaded = false
registerHooks({
  resolve(name, context, next) {
    const found = next(name, context)
    exporter_loaded ||= /telemetry\/otlp/.test(found.url)
    return found
  },
})

type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, unknown> }[]
  status?: { code: number; message?: string }
}

const attribute = ({ attributes }: Span, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]

async function start(t: TestContext, env: Record<string, string> = {}) {
  const receiver = await startReceiver()
  const rapport = await startRapport({ env: { WEBHOOK_RETRY_DELAYS: '0', ...env } })
  let closed = false
  const close = async () => {
    if (!closed) await rapport.close()
    closed = true
  }
  t.after(async () => {
    await close()
    await receiver.close()
  })
  await register(rapport.call, { url: receiver.url })
  const create = (headers: Record<string, string> = {}) =>
    rapport.call('POST', '/api/v1/companies', { name: 'Acme' }, headers)
  return { ...rapport, receiver, create, close }
}

/** A receiver that plays the collector of OpenTelemetry. */
async function startCollector(t: TestContext) {
  const receiver = await useFor(t, startReceiver())
  const batches = () => receiver.received.map(({ body }) => JSON.parse(body).resourceSpans[0])
  const spans = (): Span[] => batches().flatMap(({ scopeSpans }) => scopeSpans[0].spans)
  return {
    receiver,
    endpoint: new URL(receiver.url).origin,
    batches,
    spans,
    /** All spans of the trace of the tests: the stop of the service has sent the last ones. */
    async allOf(close: () => Promise<void>) {
      await close()
      return spans().filter(({ traceId }) => traceId === trace)
    },
    /** Waits for this many spans that fit. The service sends spans every 5 s, and its stop waits for 1 s only. */
    waitFor: (count: number, fits = ({ traceId }: Span) => traceId === trace) =>
      until(
        async () => spans().filter(fits),
        ({ length }) => length >= count,
      ),
  }
}

test('without a collector, deliveries send the trace of the request that wrote the event, and nothing is loaded', async (t) => {
  const { create, receiver, call } = await start(t)
  await create({ traceparent })
  await create()
  await create({ traceparent: 'nonsense' })
  const sent = await receiver.waitFor(3)
  assert.deepEqual(sent.map(({ headers }) => headers.traceparent ?? null).sort(), [traceparent, null, null])
  assert.equal(exporter_loaded, false)
  assert.ok(!(await call('GET', '/metrics')).text.includes('rapport_spans'))
})

test('a retry sends the same trace, and a ping none', async (t) => {
  const { create, receiver, call } = await start(t)
  receiver.answering = (_, number) => ({ status: number === 1 ? 500 : 200 })
  await create({ traceparent })
  const sent = await receiver.waitFor(2)
  assert.deepEqual(
    sent.map(({ headers }) => headers.traceparent),
    [traceparent, traceparent],
  )
  const [delivery] = await log(call)
  await call('POST', `/api/v1/webhooks/${delivery?.webhook_id}/test`, undefined, { traceparent })
  const [, , ping] = await receiver.waitFor(3)
  assert.equal(ping?.headers.traceparent, undefined)
})

// They wait for the next batch of spans at the same time.
describe('with a collector', { concurrency: true }, () => {
  test('the spans of a request, its transaction and its delivery share a trace', async (t) => {
    const collector = await startCollector(t)
    const { create, receiver, call, close } = await start(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc',
      OTEL_SERVICE_NAME: 'crm',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    })
    const { headers } = await create({ traceparent })
    const [attempt] = await receiver.waitFor(1)
    await until(
      () => log(call),
      ([one]) => one?.status === 'succeeded',
    )
    await collector.waitFor(3)
    const own = await collector.allOf(close)
    const [request, transaction, delivery, ...more] = [
      'POST /api/v1/companies',
      'transaction',
      'deliver company.created',
    ].map((name) => own.find((span) => span.name === name))
    assert.ok(request && transaction && delivery && own.length === 3 && !more.length)
    assert.deepEqual([request.kind, transaction.kind, delivery.kind], [2, 1, 3])
    assert.equal(request.parentSpanId, parent)
    assert.equal(transaction.parentSpanId, request.spanId)
    assert.equal(delivery.parentSpanId, request.spanId)
    assert.equal(attempt?.headers.traceparent, `00-${trace}-${delivery.spanId}-01`)
    assert.equal(attribute(request, 'rapport.request_id'), headers.get('x-request-id'))
    assert.equal(attribute(request, 'http.response.status_code'), '201')
    assert.equal(attribute(delivery, 'http.response.status_code'), '200')
    for (const { startTimeUnixNano: from, endTimeUnixNano: to } of own) {
      assert.ok(BigInt(from) <= BigInt(to))
      assert.ok(Math.abs(Number(BigInt(from) / 1_000_000n) - Date.now()) < 60_000)
    }
    const [sent] = collector.receiver.received
    assert.equal(sent?.path, '/v1/traces')
    assert.equal(sent?.headers.authorization, 'Bearer abc')
    const resource = JSON.stringify(collector.batches()[0].resource)
    for (const text of ['crm', 'service.version', 'deployment.environment.name'])
      assert.ok(resource.includes(text), resource)
  })

  test('a request without a trace begins one; one that its caller does not record is not sent', async (t) => {
    const collector = await startCollector(t)
    const { create, receiver, close } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })
    await create()
    await create({ traceparent: `00-${trace}-${parent}-00` })
    const sent = await receiver.waitFor(2)
    const headers = sent.map((one) => String(one.headers.traceparent))
    assert.ok(headers.includes(`00-${trace}-${parent}-00`))
    const begun = headers.find((one) => one.endsWith('-01'))?.slice(3, 35)
    assert.match(String(begun), /^[\da-f]{32}$/)
    // The request, its transaction and its delivery.
    await collector.waitFor(3, ({ traceId }) => traceId === begun)
    assert.deepEqual(await collector.allOf(close), [])
  })

  test('the sampler decides what is recorded, also of the traces of callers if it is not parentbased', async () => {
    // The ratio is of the ids of traces: this one is at 0.57.
    const recorded: [sampler: string, arg: string, caller: '00' | '01' | null, wanted: boolean][] = [
      ['always_on', '', '00', true],
      ['always_off', '', '01', false],
      ['traceidratio', '0.6', '00', true],
      ['traceidratio', '0.5', '01', false],
      ['parentbased_always_on', '0', '00', false],
      ['parentbased_always_on', '0', null, true],
      ['parentbased_always_off', '1', '01', true],
      ['parentbased_always_off', '1', null, false],
      ['parentbased_traceidratio', '0', '01', true],
      ['parentbased_traceidratio', '0', null, false],
    ]
    for (const [sampler, arg, caller, wanted] of recorded) {
      const tracer = await openTracer(
        readConfig({
          OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
          OTEL_TRACES_SAMPLER: sampler,
          OTEL_TRACES_SAMPLER_ARG: arg,
        }),
        () => {},
      )
      const span = tracer?.start('server', caller && `00-${trace}-${parent}-${caller}`)
      const shown = `${sampler} ${arg} ${caller}: ${span?.traceparent}`
      assert.equal(span?.traceparent.endsWith('-01'), wanted, shown)
      if (caller) assert.ok(span?.traceparent.startsWith(`00-${trace}-`), shown)
      if (caller && !wanted) assert.equal(span?.traceparent, `00-${trace}-${parent}-00`)
    }
  })

  test('variables of traces alone win over the general ones, and their address is used as it is', async (t) => {
    const collector = await startCollector(t)
    const { create } = await start(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.endpoint}/spans/`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=general',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=traces',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '10000',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=crm',
    })
    await create({ traceparent })
    const [sent] = await collector.receiver.waitFor(1)
    assert.deepEqual([sent?.path, sent?.headers.authorization], ['/spans/', 'traces'])
    const { attributes } = collector.batches()[0].resource
    const names = attributes.filter(({ key }: { key: string }) => key === 'service.name')
    assert.deepEqual(names, [{ key: 'service.name', value: { stringValue: 'crm' } }])
  })

  test('a failed attempt is a failed span', async (t) => {
    const collector = await startCollector(t)
    const { create, receiver } = await start(t, {
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    })
    receiver.answering = () => ({ status: 503 })
    await create({ traceparent })
    await receiver.waitFor(2)
    const attempts = await collector.waitFor(2, ({ name }) => name.startsWith('deliver'))
    assert.deepEqual(
      attempts.map((span) => [span.status, attribute(span, 'error.type')]),
      [
        [{ code: 2, message: 'http_error' }, 'http_error'],
        [{ code: 2, message: 'http_error' }, 'http_error'],
      ],
    )
  })

  test('requests that reach no route have spans, health checks and metrics none', async (t) => {
    const collector = await startCollector(t)
    const { url, call, close } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })
    for (const path of ['/healthz', '/readyz', '/metrics', '/nowhere', '/api/v1/companies?a=%ff', '/%'])
      await client(url, null)('GET', path, undefined, { traceparent })
    await call('PATCH', '/api/v1/companies', {}, { traceparent })
    await collector.waitFor(4)
    const own = await collector.allOf(close)
    assert.deepEqual(
      own.map((span) => [span.name, attribute(span, 'http.response.status_code')]),
      [
        ['GET', '404'],
        ['GET /api/v1/companies', '400'],
        ['GET', '400'],
        ['PATCH', '405'],
      ],
    )
  })

  test('a transaction that is rolled back is a failed span with a code', async (t) => {
    const collector = await startCollector(t)
    const { call } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })
    assert.equal((await call('POST', '/api/v1/companies', {}, { traceparent })).status, 422)
    // The request and its transaction.
    const own = await collector.waitFor(2)
    const transaction = own.find(({ name }) => name === 'transaction')
    assert.ok(transaction)
    assert.deepEqual(transaction.status, { code: 2, message: 'validation_failed' })
    assert.equal(attribute(transaction, 'error.type'), 'validation_failed')
  })
})

test('nothing is sent when the variables say so', async (t) => {
  const collector = await startCollector(t)
  const ways: Record<string, string>[] = [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }]
  for (const off of ways) {
    const { create, close } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...off })
    await create({ traceparent })
    await close()
  }
  assert.equal(collector.receiver.received.length, 0)
})

test('a collector that hangs, or is away, delays nothing; the spans that it does not get are counted', async (t) => {
  const collector = await startCollector(t)
  collector.receiver.answering = () => 'hang'
  for (const endpoint of [collector.endpoint, 'http://127.0.0.1:1']) {
    const { url, create, receiver, call, close } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
    const open = client(url, null)
    // More than the queue holds.
    for (let n = 0; n < 30; n++)
      await Promise.all(Array.from({ length: 100 }, () => open('GET', '/api/v1/companies')))
    assert.equal((await create()).status, 201)
    await receiver.waitFor(1)
    const { text } = await call('GET', '/metrics')
    assert.ok(Number(/^rapport_spans_dropped_total (\d+)$/m.exec(text)?.[1]) > 0, endpoint)
    const { calm_ms } = await calmTime(close)
    assert.ok(calm_ms < 8000, `${calm_ms} ms`)
  }
})

type Settings = Parameters<typeof import('../src/telemetry/otlp.ts').createOtlpTracer>[0]

// A collector in this process may be late on a busy machine.
const patient = { close_within_ms: 60_000, timeout_ms: 60_000 }

async function tracerFor(url: string, more: Partial<Settings> = {}) {
  const { createOtlpTracer } = await import('../src/telemetry/otlp.ts')
  return createOtlpTracer({
    url,
    headers: {},
    service_name: 'crm',
    version: '0',
    resource: {},
    timeout_ms: 5000,
    sampling: { ratio: 1, by_caller: true },
    onError: () => {},
    ...more,
  })
}

test('a stop waits a second for a collector that hangs, and sends the last spans to one that answers', async (t) => {
  const stop = async (answer: Answer, more: Partial<Settings> = {}) => {
    const collector = await startCollector(t)
    collector.receiver.answering = () => answer
    const tracer = await tracerFor(collector.endpoint, more)
    tracer.start('internal', null).end('work')
    const { calm_ms } = await calmTime(() => tracer.close())
    return { calm_ms, dropped: tracer.dropped(), came: collector.spans().length }
  }
  const { calm_ms, dropped } = await stop('hang')
  assert.ok(calm_ms < 1500, `${calm_ms} ms`)
  assert.equal(dropped, 1)
  const answered = await stop({ status: 200 }, patient)
  assert.deepEqual([answered.dropped, answered.came], [0, 1])
})

test('the error of a lost batch is a code, without its message', async (t) => {
  const collector = await startCollector(t)
  collector.receiver.answering = () => ({ status: 503, body: 'secret' })
  const lose = async (url: string, headers: Record<string, string> = {}) => {
    const errors: string[] = []
    const tracer = await tracerFor(url, { ...patient, headers, onError: (code) => void errors.push(code) })
    tracer.start('internal', null).end('work')
    await tracer.close()
    assert.equal(tracer.dropped(), 1)
    return errors
  }
  assert.deepEqual(await lose(collector.endpoint), ['status_503'])
  assert.deepEqual(await lose('http://127.0.0.1:1', { key: 'secret' }), ['TypeError'])
  assert.deepEqual(await lose(collector.endpoint, { key: 'a\nsecret' }), ['TypeError'])
})
