import type { Generated } from 'kysely'

/** The types of the tables of events and webhooks (see tables.ts). */
export interface EventTables {
  events: {
    id: string
    workspace_id: number
    seq: Generated<number>
    event: string
    occurred_at: string
    record_id: number | null
    /** The JSON text of the request body, without webhook_id. */
    payload: string
    /** The trace context of the request; null without one. */
    traceparent: Generated<string | null>
    /** The only webhook that gets the event, such as in a backfill. The feed leaves such an event out. */
    webhook_id: Generated<string | null>
  }
  webhooks: {
    id: string
    workspace_id: number
    seq: Generated<number>
    name: string | null
    url: string
    /** A JSON array. webhook_subscriptions has the same events as rows. */
    events: string
    status: 'active' | 'failed' | 'paused'
    status_reason: string | null
    /** Encrypted. */
    secret: string
    /** Encrypted. After the end of the overlap, only this secret signs. */
    next_secret: string | null
    next_secret_from_ms: number | null
    created_at: string
    /** A JSON array of seconds. Null here or in `timeout_ms` means the setting of the installation. */
    retry_delays: Generated<string | null>
    timeout_ms: Generated<number | null>
    max_per_second: Generated<number | null>
    /** The starts of the last second (webhooks/delivery/pace.ts), and when the next one may follow. */
    recent_starts: Generated<string | null>
    paced_until_ms: Generated<number | null>
    /** An encrypted JSON object of headers that every delivery sends. */
    headers: Generated<string | null>
    /** A JSON array (events/conditions.ts). */
    conditions: Generated<string | null>
    /** Null: the envelope. */
    format: Generated<'slack' | 'teams' | null>
    ordered: Generated<0 | 1>
  }
  /** `event` is a name of an event, a group such as `deal.*`, or `*`. */
  webhook_subscriptions: { workspace_id: number; event: string; webhook_id: string }
  webhook_deliveries: {
    id: string
    workspace_id: number
    webhook_id: string
    event_id: string
    event: string
    status: 'pending' | 'succeeded' | 'failed' | 'cancelled'
    attempt_count: number
    next_attempt_at: string | null
    created_at: string
    finished_at: string | null
    /** The form of its body; null: the envelope. */
    format: Generated<'slack' | 'teams' | null>
  }
  /** Unfinished deliveries only. The rows are small, because every claim reads them. */
  webhook_queue: {
    delivery_id: string
    workspace_id: number
    webhook_id: string
    kind: 'event' | 'backfill' | 'resend' | 'ping'
    /** The service time when the next attempt is due, or, while claimed, when the lease ends. */
    run_at_ms: number
    /** The counted attempts of the current round of retries. */
    tries: number
    claim_id: string | null
    claimed_at_ms: number | null
    /** Consecutive claims without an outcome and with no other attempt in flight, including a current claim. */
    interruptions: Generated<number>
    /** For an ordered webhook: its record, and its place in the record's order, before `delivery_id`. */
    record_key: Generated<string | null>
    order_seq: Generated<number | null>
  }
  /** The subscriptions of a webhook, from the event with `from_seq` on. `events` is null after its deletion. */
  webhook_registrations: {
    workspace_id: number
    webhook_id: string
    from_seq: number
    events: string | null
    conditions: string | null
  }
  webhook_attempts: {
    workspace_id: number
    delivery_id: string
    number: number
    started_at: string
    duration_ms: number
    request_url: string
    /** A JSON object. */
    request_headers: string
    response_status: number | null
    /** A JSON object. */
    response_headers: string | null
    response_body: string | null
    error_code: string | null
    error_message: string | null
  }
}
