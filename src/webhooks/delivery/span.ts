import type { Tracer } from '../../telemetry/tracer.ts'
import type { Claim } from './claim.ts'
import type { AttemptOutcome } from './deliver.ts'

/** Begins the span of an attempt, in the trace that wrote the event. */
export function attemptSpan(tracer: Tracer, claim: Claim) {
  const { delivery_id, webhook_id, event, tries, traceparent } = claim
  const span = tracer.start('client', traceparent)
  return {
    traceparent: span.traceparent,
    end({ response, error }: Pick<AttemptOutcome, 'response' | 'error'>) {
      const attributes = {
        'http.request.method': 'POST',
        'http.response.status_code': response?.status,
        'error.type': error?.code,
        'rapport.event': event,
        'rapport.webhook_id': webhook_id,
        'rapport.delivery_id': delivery_id,
        'http.request.resend_count': tries || undefined,
      }
      // Not the message: it may have text of the receiver.
      span.end(`deliver ${event}`, attributes, error?.code)
    },
  }
}
