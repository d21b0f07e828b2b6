import type { Migration } from '../migrate.ts'

/** The trace context of the request that wrote an event (W3C traceparent). Its deliveries send it. */
export const eventTraces: Migration = {
  name: '0019_event_traces',
  kind: 'expand',
  statements: () => ['ALTER TABLE events ADD COLUMN traceparent text'],
}
