import { randomBytes } from 'node:crypto'
import { systemClock } from '../clock.ts'
import type { Attributes, Span, Tracer } from './tracer.ts'

/** `ratio`: the recorded part of traces, from 0 to 1. `by_caller`: only of new ones, and the caller decides about others. */
export type Sampling = { ratio: number; by_caller: boolean }

export type OtlpSettings = {
  /** The whole address for traces. */
  url: string
  headers: Record<string, string>
  /** null: `service.name` of the resource, or `rapport`. */
  service_name: string | null
  version: string
  resource: Record<string, string>
  timeout_ms: number
  /** How long a stop waits for the last spans; by default 1 s. Nobody is served meanwhile. */
  close_within_ms?: number
  sampling: Sampling
  /** Called with a code when a batch could not be sent, and not again until one could. */
  onError: (code: string) => void
}

// The defaults of OpenTelemetry's batch processor.
const max_queue = 2048
const max_batch = 512
const send_after_ms = 5000

const kinds = { internal: 1, server: 2, client: 3 }

/**
 * A tracer that sends spans as OTLP/JSON over HTTP. It keeps at most 2,048 spans, and sends one batch at a time. So a
 * collector that hangs costs nothing else. It does not repeat a failed batch.
 */
export function createOtlpTracer(settings: OtlpSettings): Tracer {
  const { url, headers, timeout_ms, close_within_ms = 1000, sampling, onError } = settings
  const resource = {
    attributes: attributesOf({
      'service.name': 'rapport',
      ...settings.resource,
      ...(settings.service_name !== null && { 'service.name': settings.service_name }),
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
      const sampled = parent && sampling.by_caller ? isRecorded(parent) : isInPart(trace_id, sampling.ratio)
      if (!sampled) return { traceparent: notRecorded(parent ?? `00-${trace_id}-${span_id}-00`), end() {} }
      const started_at_ms = systemClock.now()
      const started_ms = performance.now()
      return {
        traceparent: `00-${trace_id}-${span_id}-01`,
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

const flagsOf = (traceparent: string) => Number.parseInt(traceparent.slice(53), 16)
const isRecorded = (parent: string) => (flagsOf(parent) & 1) === 1
const notRecorded = (parent: string) =>
  parent.slice(0, 53) + (flagsOf(parent) & 0xfe).toString(16).padStart(2, '0')

/** By the random end of the trace's id, so all services with one ratio record the same traces. */
const isInPart = (trace_id: string, ratio: number) =>
  Number.parseInt(trace_id.slice(-12), 16) < ratio * 2 ** 48

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
