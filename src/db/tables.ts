import type { ColumnType, Generated } from 'kysely'

// The database as types, one interface a table, beside the migrations that make it.
// Timestamps are ISO 8601 texts; *_ms columns are milliseconds since 1970.

/** A value that is set when the row is made and never changes. */
type Fixed<T> = ColumnType<T, T, never>

interface Owned {
  id: Generated<number>
  workspace_id: Fixed<number>
}

interface Recorded extends Owned {
  created_at: Fixed<string>
  updated_at: string
  deleted_at: ColumnType<string | null, undefined, string | null>
}

export interface CompaniesTable extends Recorded {
  name: string
  /** The name as it is sorted (db/lists/sort-names.ts). */
  sort_name: Generated<string>
  website: string | null
  industry: string | null
  phone: string | null
  address: string | null
  /** JSON object */
  custom_fields: string
}

export interface ContactsTable extends Recorded {
  first_name: string
  last_name: string
  email: string | null
  phone: string | null
  mobile: string | null
  company_id: number | null
  title: string | null
  stage: string | null
  source: string | null
  /** JSON object */
  custom_fields: string
  /** JSON array of strings */
  tags: string
  /** Last and first name as they are sorted (db/lists/sort-names.ts). */
  sort_name: Generated<string>
  /** Names and e-mail, lower case and without accents, for the search. */
  search_text: string
}

export interface NotesTable extends Recorded {
  contact_id: Fixed<number>
  body: string
}

export interface DealsTable extends Recorded {
  name: string
  /** The name as it is sorted (db/lists/sort-names.ts). */
  sort_name: Generated<string>
  /** Ten-thousandths, so that sums are exact. */
  value_units: number | null
  stage: string
  /** Follows stage by a generated column. */
  status: Generated<'open' | 'won' | 'lost'>
  own_probability: number | null
  closed_probability: number | null
  lost_reason: string | null
  closed_at: string | null
  contact_id: number | null
  company_id: number | null
  expected_close_date: string | null
  priority: string | null
  source: string | null
}

export interface DealStagesTable extends Owned {
  deal_id: Fixed<number>
  from_stage: Fixed<string | null>
  to_stage: Fixed<string>
  changed_at: Fixed<string>
  /** Id of the API key or person, or what kind of actor it was. */
  changed_by: Fixed<string>
}

export interface ActivitiesTable extends Recorded {
  type: string
  subject: string
  body: string | null
  due_at: string | null
  completed_at: string | null
  outcome: string | null
  contact_id: number | null
  company_id: number | null
  deal_id: number | null
}

export interface BookingPagesTable extends Recorded {
  slug: string
  title: string
  description: string | null
  duration_minutes: number
  buffer_minutes: number
  minimum_notice_minutes: number
  horizon_days: number
  time_zone: string
  /** JSON object: wall-clock intervals of each weekday. */
  availability: string
  /** JSON object: wall-clock intervals of single days, in place of their weekday's. */
  date_overrides: string
  active: 0 | 1
  open_bookings_per_email: number
  bookings_per_address_per_day: number
  bookings_per_hour: number
  /** Whether a visitor's booking is a request until somebody accepts it. */
  approval: 0 | 1
}

export interface AppointmentsTable extends Recorded {
  title: string
  type: string | null
  start_at: string
  end_at: string
  contact_id: number | null
  booking_page_id: number | null
  location: string | null
  notes: string | null
  status: 'requested' | 'scheduled' | 'cancelled' | 'declined'
  cancel_reason: string | null
  /** SHA-256 of the token in the private link, for those that a visitor booked. */
  link_hash: string | null
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
  companies: CompaniesTable
  contacts: ContactsTable
  notes: NotesTable
  deals: DealsTable
  deal_stages: DealStagesTable
  activities: ActivitiesTable
  booking_pages: BookingPagesTable
  appointments: AppointmentsTable
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
