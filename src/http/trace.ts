import type { IncomingHttpHeaders } from 'node:http'

// Unknown versions may append fields, which are dropped.
const pattern = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** The trace context of a request as version 00 (W3C Trace Context); null if the header is missing or invalid. */
export function traceparentOf({ traceparent }: IncomingHttpHeaders): string | null {
  if (typeof traceparent !== 'string') return null
  const [, version, trace_id, parent_id, flags, more] = pattern.exec(traceparent) ?? []
  if (!trace_id || (version === '00' && more !== undefined)) return null
  return `00-${trace_id}-${parent_id}-${flags}`
}

/** The trace id, for the log; undefined without a valid header. */
export const traceIdOf = (headers: IncomingHttpHeaders): string | undefined =>
  traceparentOf(headers)?.slice(3, 35)
