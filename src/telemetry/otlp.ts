import { randomBytes } from 'node:crypto'
import { systemClock } from '../clock.ts'
import type { Attributes, Span, Tracer } from './tracer.ts'

export type OtlpSettings = {
  /** The base address of the collector. */
  endpoint: string
  headers: Record<string, string>
  service_name: string
  version: string
  resource: Record<string, string>
  timeout_ms: number
  /** The part of new traces that is recorded, from 0 to 1. The caller's decision counts for others. */
  ratio: number
  /** Called with a code when a batch could not be sent, and not again until one could. */
  onError: (code: string) => void
}

// The defaults of OpenTelemetry's batch processor.
const max_queue = 2048
const max_batch = 512
const send_after_ms = 5000
const close_within_ms = 2000

const kinds = { internal: 1, server: 2, client: 3 }

/**
 * A tracer that sends spans as OTLP/JSON over HTTP. It keeps at most 2,048 spans and sends one batch at a time, so a
 * collector that hangs costs nothing else. It does not repeat a failed batch.
 */
export function createOtlpTracer(settings: OtlpSettings): Tracer {
  const { endpoint, headers, timeout_ms, onError } = settings
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const resource = {
    attributes: attributesOf({
      ...settings.resource,
      'service.name': settings.service_name,
      'service.version': settings.version,
    }),
  }
  let queue: object[] = []
  let dropped = 0
  let failing = false
  let sending: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined
  const closed = new AbortController()

  function add(span: object): void {
    if (queue.length >= max_queue || closed.signal.aborted) {
      dropped++
      return
    }
    queue.push(span)
    if (queue.length >= max_batch) flush()
    else timer ??= setTimeout(flush, send_after_ms).unref()
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (sending || !queue.length) return
    const batch = queue.slice(0, max_batch)
    queue = queue.slice(max_batch)
    sending = send(batch)
      .then(
        () => null,
        (error) => codeOf(error),
      )
      .then((code) => {
        if (code !== null) dropped += batch.length
        if (code !== null && !failing) onError(code)
        failing = code !== null
        sending = null
        if (queue.length >= max_batch) flush()
        else if (queue.length) timer ??= setTimeout(flush, send_after_ms).unref()
      })
  }

  async function send(spans: object[]): Promise<void> {
    const scope = { name: 'rapport', version: settings.version }
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] }),
      signal: AbortSignal.any([AbortSignal.timeout(timeout_ms), closed.signal]),
      redirect: 'error',
    })
    await response.body?.cancel()
    if (!response.ok) throw new Refused(`status_${response.status}`)
  }

  return {
    start(kind, parent): Span {
      const trace_id = parent?.slice(3, 35) ?? randomBytes(16).toString('hex')
      const span_id = randomBytes(8).toString('hex')
      const sampled = parent
        ? (Number.parseInt(parent.slice(53), 16) & 1) === 1
        : settings.ratio > Math.random()
      const traceparent = `00-${trace_id}-${span_id}-0${Number(sampled)}`
      if (!sampled) return { traceparent: parent ?? traceparent, end() {} }
      const started_at_ms = systemClock.now()
      const started_ms = performance.now()
      return {
        traceparent,
        end(name, attributes = {}, error) {
          add({
            traceId: trace_id,
            spanId: span_id,
            parentSpanId: parent?.slice(36, 52),
            flags: 1,
            name,
            kind: kinds[kind],
            startTimeUnixNano: nanoseconds(started_at_ms),
            endTimeUnixNano: nanoseconds(started_at_ms + performance.now() - started_ms),
            attributes: attributesOf(attributes),
            status: error === undefined ? undefined : { code: 2, message: error },
          })
        },
      }
    },
    dropped: () => dropped,
    async close() {
      const late = setTimeout(() => closed.abort(), close_within_ms)
      for (flush(); sending; flush()) await sending
      clearTimeout(late)
      closed.abort()
    },
  }
}

/** The collector answered with an error status. */
class Refused extends Error {}

// Not the message: it may quote a header or an address.
function codeOf(error: unknown): string {
  if (error instanceof Refused) return error.message
  const { name, cause } = error as Error
  const { code } = (cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : name
}

const nanoseconds = (ms: number) => String(BigInt(Math.round(ms * 1000)) * 1000n)

function attributesOf(attributes: Attributes): object[] {
  const known = Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined)
  return known.map(([key, value]) => ({ key, value: anyValue(value as string | number | boolean) }))
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'string') return { stringValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
