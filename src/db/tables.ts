import type { ColumnType, Generated } from 'kysely'

// The database as types, beside the migrations that make it. Each resource adds its own table (resources/*/resource.ts).
// Timestamps are ISO 8601 texts; *_ms columns are milliseconds since 1970.

/** A value that is set when the row is made and never changes. */
type Fixed<T> = ColumnType<T, T, never>

interface Owned {
  id: Generated<number>
  workspace_id: Fixed<number>
}

export interface DealStagesTable extends Owned {
  deal_id: Fixed<number>
  from_stage: Fixed<string | null>
  to_stage: Fixed<string>
  changed_at: Fixed<string>
  /** Id of the API key or person, or what kind of actor it was. */
  changed_by: Fixed<string>
}

export interface AuditLogTable extends Owned {
  occurred_at: Fixed<string>
  actor_kind: Fixed<'key' | 'person' | 'visitor' | 'command_line' | 'service'>
  /** Id of the key or person; null for those who have none. */
  actor_id: Fixed<string | null>
  action: Fixed<string>
  /** The resource's name, such as contacts. */
  kind: Fixed<string>
  /** The record's id as a text: those of webhooks and keys are texts. */
  record_id: Fixed<string>
  /** JSON objects of fields; null where there is nothing to tell, or after an erasure. */
  before: string | null
  after: string | null
  request_id: Fixed<string | null>
}

export interface Tables {
  /** The currency is that of all values of deals: ISO 4217. */
  workspaces: { id: Generated<number>; name: string; created_at: string; currency: Generated<string> }
  /** People who sign in, of any workspace. */
  users: {
    id: string
    name: string
    email: string
    email_key: string
    password_hash: string
    time_zone: string | null
    language: string | null
    created_at: string
    updated_at: string
    /** Of a link by which a new password can be set once. */
    reset_hash: string | null
    reset_expires_at: string | null
    /** Since when the person is a member of no workspace. */
    left_at: string | null
  }
  memberships: {
    workspace_id: number
    user_id: string
    role: string
    created_at: string
    /** When the person came into the workspace last: by signing in, or from another one. */
    entered_at: string
  }
  sessions: {
    id: string
    hash: string
    user_id: string
    workspace_id: number
    created_at: string
    last_used_at: string
    expires_at: string
    user_agent: string | null
    address: string | null
  }
  invitations: {
    id: string
    workspace_id: number
    email: string
    role: string
    hash: string
    invited_by: string
    created_at: string
    expires_at: string
    accepted_at: string | null
    revoked_at: string | null
  }
  sign_in_failures: { name: string; failures: number; last_at_ms: number; blocked_until_ms: number }
  saved_views: {
    id: string
    workspace_id: number
    list: string
    name: string
    query: string
    created_at: string
    updated_at: string
  }
  api_keys: {
    id: string
    workspace_id: number
    name: string
    hash: string
    /** JSON array; null: every scope. */
    scopes: string | null
    created_at: string
    expires_at: string | null
    last_used_at: string | null
    revoked_at: string | null
    /** Of the key or person that has made it; null: the command line, or the first start. */
    made_by: string | null
  }
  settings: { name: string; value: string }
  record_counts: { workspace_id: number; name: string; slot: number; n: number }
  /** Tags and custom fields as rows, for lists to find records by (db/lists/field-values.ts). */
  field_values: { workspace_id: number; kind: string; field: string; value: string; record_id: number }
  /** How many live records of a table have ids of one block; triggers keep it. */
  record_blocks: { workspace_id: number; kind: string; block: number; slot: number; n: number }
  idempotency_keys: {
    workspace_id: number
    key_id: string
    path: string
    idempotency_key: string
    body_hash: string
    /** The stored answer, encrypted; null while its request is in flight. */
    answer: string | null
    created_at_ms: number
  }
  deal_stages: DealStagesTable
  /** Who booked in the last day, for limits by address: rows go with the day. */
  booking_visits: {
    workspace_id: number
    booking_page_id: number
    appointment_id: number
    /** HMAC of page and address. */
    address_hash: string
    /** Service time. */
    booked_at_ms: number
  }
  audit_log: AuditLogTable
  events: {
    id: string
    workspace_id: number
    seq: Generated<number>
    event: string
    occurred_at: string
    record_id: number | null
    /** The JSON text that is sent, without webhook_id. */
    payload: string
  }
  webhooks: {
    id: string
    workspace_id: number
    seq: Generated<number>
    name: string | null
    url: string
    /** JSON array; webhook_subscriptions holds the same for finding by event. */
    events: string
    status: 'active' | 'failed' | 'paused'
    status_reason: string | null
    /** Encrypted. */
    secret: string
    /** Encrypted; signs alone from the end of the overlap. */
    next_secret: string | null
    next_secret_from_ms: number | null
    created_at: string
  }
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
  }
  /** Only unfinished deliveries; narrow, because every claim reads it. */
  webhook_queue: {
    delivery_id: string
    workspace_id: number
    webhook_id: string
    kind: 'event' | 'resend' | 'ping'
    /** When the next attempt is due; while claimed: when the lease ends. */
    run_at_ms: number
    /** Attempts that counted, of this round of tries. */
    tries: number
    claim_id: string | null
    claimed_at_ms: number | null
    /** Claims in a row that were alone in flight and had no outcome, a current one included. */
    interruptions: Generated<number>
  }
  /** Deleted webhooks with deliveries that are still in the queue: those are cancelled since `removed_at`. */
  webhook_removals: { workspace_id: number; webhook_id: string; removed_at: string }
  /** Failed deliveries that are promised to be sent again; a JSON array of ids, of which `first_id` is the first. */
  webhook_resends: { workspace_id: number; webhook_id: string; first_id: string; delivery_ids: string }
  webhook_attempts: {
    workspace_id: number
    delivery_id: string
    number: number
    started_at: string
    duration_ms: number
    request_url: string
    /** JSON object */
    request_headers: string
    response_status: number | null
    /** JSON object */
    response_headers: string | null
    response_body: string | null
    error_code: string | null
    error_message: string | null
  }
}
