import type { ColumnType, Generated } from 'kysely'
import type { BusyTables } from './busy-tables.ts'
import type { EventTables } from './event-tables.ts'
import type { MailTables } from './mail-tables.ts'
import type { WorkTable } from './work-table.ts'

// The types of the tables that the migrations create. Each resource adds its own table (resources/*/resource.ts).
// Timestamps are ISO 8601 texts; *_ms columns are milliseconds since 1970.

/** A value that is set at the insert and never changes. */
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
  /** The id of the API key or person, or the kind of another actor. */
  changed_by: Fixed<string>
}

export interface AppointmentGuestsTable extends Owned {
  appointment_id: Fixed<number>
  /** A merge changes it. Two rows of an appointment may then have the same contact. */
  contact_id: number
  updated_at: string
}

export interface AuditLogTable extends Owned {
  occurred_at: Fixed<string>
  actor_kind: Fixed<'key' | 'person' | 'visitor' | 'command_line' | 'service'>
  /** The id of the key or person; null for other actors. */
  actor_id: Fixed<string | null>
  action: Fixed<string>
  /** The resource's name, such as contacts. */
  kind: Fixed<string>
  /** The record's id as a text: webhooks and keys have text ids. */
  record_id: Fixed<string>
  /** JSON objects of fields; null without fields, or after an erasure. */
  before: string | null
  after: string | null
  request_id: Fixed<string | null>
  /** Entries with the same text belong together; null for most. */
  change_group: Generated<string | null>
}

export interface MergesTable extends Owned {
  kind: Fixed<string>
  survivor_id: Fixed<number>
  /** A JSON array of ids. */
  from_ids: Fixed<string>
  /** A JSON object: whose value each field gets. */
  wanted: Fixed<string>
  status: 'running' | 'done' | 'undoing' | 'undone'
  /** The changed fields of the survivor before and after, as JSON; null when they can no longer be put back. */
  changes: string | null
  created_by: Fixed<string>
  created_at: Fixed<string>
  undone_at: string | null
  /** Records that an undo has put back. */
  restored: number
}

export interface ImportsTable {
  id: string
  workspace_id: number
  resource: string
  /** An upload is hidden until it is complete. */
  status: 'uploading' | 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'undone'
  file_name: string | null
  /** JSON (imports/schema.ts). */
  options: string
  /** JSON: how the file is read (files/rows.ts); null during the upload. */
  form: string | null
  rows_read: Generated<number>
  created: Generated<number>
  updated: Generated<number>
  skipped: Generated<number>
  failed: Generated<number>
  /** The number of rows in import_errors. */
  errors: Generated<number>
  /** JSON: the counters by the kind of rows, in the order of their import (imports/schema.ts). */
  kinds: Generated<string>
  /** Why it failed. */
  message: string | null
  /** The id of the API key or person, or the kind of another actor. */
  created_by: string
  request_id: string | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  /** The number of the last row of the file that is committed. */
  last_row: Generated<number>
  chunks: Generated<number>
  /** The share of the file that was read, from 0 to 1. An archive is read once for each kind. */
  progress: Generated<number>
  claim_id: string | null
  /** Claims since the last committed row. */
  claims: Generated<number>
  /** A service time: when an upload, an import or its undo counts as abandoned. */
  lease_ends_ms: number
  restored: Generated<number>
  /** A JSON list of records that the undo left. */
  not_restored: string | null
  /** JSON: the program of the file, and how it writes numbers and days (imports/source.ts). Null before it was read. */
  source: string | null
  /** JSON: what became of the cells of each column (imports/account.ts). */
  account: Generated<string>
}

export interface NotificationsTable extends Owned {
  user_id: Fixed<string>
  kind: Fixed<'assigned' | 'mentioned' | 'webhook_failed' | 'import_ended' | 'mail_failed'>
  /** The record, the webhook or the import: its table, and its id as a text. */
  record_kind: Fixed<string>
  record_id: string
  /** The note that mentions the member. */
  note_id: number | null
  /** The number of records; `record_id` is the first one. */
  records: Generated<number>
  /** How an import ended. */
  outcome: string | null
  /** The id of the API key or person, or the kind of another actor. */
  actor: string
  /** Unread notifications of a member with the same source are one. */
  source: Fixed<string>
  /** The request of the import that has not ended: until then nobody sees it. */
  held_by: string | null
  occurred_at: string
  /** The last change, for streams: a new cause, or the reading. */
  changed_at: string
  read_at: string | null
}

export interface Tables extends BusyTables, EventTables, MailTables {
  /** `currency` (ISO 4217) applies to the values of all deals. */
  workspaces: { id: Generated<number>; name: string; created_at: string; currency: Generated<string> }
  /** Values that a workspace offers, each list in the order of `place`. Null stands for what is built in (choices.ts). */
  choices: {
    workspace_id: number
    list: string
    value: string
    place: number
    label: string | null
    colour: string | null
    probability: number | null
    stale_after_days: number | null
  }
  /** People who sign in, of all workspaces. */
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
    /** The hash of a link that sets a new password once. */
    reset_hash: string | null
    reset_expires_at: string | null
    /** When the person left their last workspace. */
    left_at: string | null
    /** A JSON object with the preferences that are not the default (mails/preferences.ts). */
    mail_preferences: Generated<string | null>
  }
  memberships: {
    workspace_id: number
    user_id: string
    role: string
    created_at: string
    /** When the person last entered the workspace: by signing in, or from another workspace. */
    entered_at: string
    /** The day of the last daily digest, in the person's zone. */
    digest_day: Generated<string | null>
  }
  work: WorkTable
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
    visibility: Generated<'private' | 'shared'>
    /** The id of a person or a key; null for views of version 0.1, and for imported ones of strangers. */
    created_by: string | null
    updated_by: string | null
    created_at: string
    updated_at: string
  }
  /** A member's own order of the saved views of a list, and the tab that the list opens with. */
  view_tabs: {
    workspace_id: number
    user_id: string
    list: string
    /** A JSON array of ids. */
    tabs: string
    default_tab: string | null
  }
  api_keys: {
    id: string
    workspace_id: number
    name: string
    hash: string
    /** A JSON array; null means every scope. */
    scopes: string | null
    created_at: string
    expires_at: string | null
    last_used_at: string | null
    revoked_at: string | null
    /** The id of the key or person that created it; null for the command line and the first start. */
    made_by: string | null
  }
  settings: { name: string; value: string }
  notifications: NotificationsTable
  record_counts: { workspace_id: number; name: string; slot: number; n: number }
  /** Tags and custom fields as rows, so that lists can filter by them (db/lists/field-values.ts). */
  field_values: { workspace_id: number; kind: string; field: string; value: string; record_id: number }
  /** Definitions of custom fields; `kind` is the table of the records. */
  field_definitions: Owned & {
    kind: Fixed<string>
    key: Fixed<string>
    label: string
    type: Fixed<'text' | 'number' | 'boolean' | 'date' | 'select' | 'url' | 'email'>
    /** A JSON array of texts; empty for other types than select. */
    options: string
    is_required: 0 | 1
    is_unique: 0 | 1
    position: number
    created_at: Fixed<string>
    updated_at: string
    /** Writes obey it unless it is `removed`; answers show it unless it is `new` or `removed`. */
    status: 'new' | 'ready' | 'changing' | 'removed'
    /** A JSON object with the columns before a change whose check is not complete. */
    previous: string | null
  }
  /** The values of defined fields of live records (custom-fields/defined-values.ts). */
  defined_values: {
    workspace_id: number
    definition_id: number
    record_id: number
    sort_value: string
    unique_value: string | null
  }
  /** The number of live records of a table in each block of ids. Triggers keep it. */
  record_blocks: {
    workspace_id: number
    kind: string
    block: number
    slot: number
    n: number
    /** How often searched texts of the block changed; of contacts only. */
    changes: Generated<number>
  }
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
  imports: ImportsTable
  /** The bytes of a file that is imported, until its end. */
  import_chunks: { workspace_id: number; import_id: string; number: number; content: Uint8Array }
  /** Problems of rows, a row for each field, in the order of the file. `content` is the row as it was sent, cut. */
  import_errors: {
    workspace_id: number
    import_id: string
    number: number
    row_number: number
    content: string
    field: string
    message: string
    /** The code of the error (docs/import.md). Empty for imports of earlier versions. */
    code: string
  }
  /** Records that an import made (`before` is null) or changed: a JSON body that puts the earlier values back. */
  import_changes: {
    workspace_id: number
    import_id: string
    kind: string
    record_id: number
    /** The record's updated_at after the import. */
    changed_at: string
    before: string | null
    /** The id in the archive that the record came from; null for other files. */
    source_id: number | null
  }
  deal_stages: DealStagesTable
  appointment_guests: AppointmentGuestsTable
  /** The times of scheduled and requested appointments in each calendar: of a booking page, or of a person. Triggers keep them. */
  taken_times: {
    workspace_id: number
    appointment_id: number
    /** The id of the booking page or of the person. */
    calendar: string
    start_at: string
    end_at: string
    /** 1: no other exclusive time of the calendar overlaps it. */
    is_exclusive: number
  }
  /** Bookings of the last 24 h, for limits by address. */
  booking_visits: {
    workspace_id: number
    booking_page_id: number
    appointment_id: number
    /** The HMAC of page and address. */
    address_hash: string
    /** A service time. */
    booked_at_ms: number
  }
  audit_log: AuditLogTable
  merges: MergesTable
  /** The records that were merged into another one, while they are not restored. */
  merged_records: {
    workspace_id: number
    kind: string
    record_id: number
    merge_id: number
    survivor_id: number
  }
  /** The values by which an upsert or a booking finds the survivor of a merged record. */
  merged_values: {
    workspace_id: number
    kind: string
    /** As in \`match\`, such as \`email\` or \`custom_fields.customer_no\`. */
    field: string
    /** The key of the value (lists/same-text.ts). */
    value: string
    record_id: number
  }
  /** Pairs of records that are not the same, with the value that made them alike. */
  dismissed_pairs: {
    workspace_id: number
    kind: string
    /** As of a group of duplicates, such as `email`. */
    reason: string
    /** The key of the value (lists/match-keys.ts). */
    value: string
    first_id: number
    /** The higher id. */
    second_id: number
  }
  /** The links that a merge moved, so that an undo can restore them. After the undo: the links that it did not restore. */
  merge_links: {
    workspace_id: number
    merge_id: number
    kind: string
    record_id: number
    /** The reference that was changed; empty for a merged record and the survivor. */
    field: string
    from_id: number | null
    /** The record's updated_at after the merge. */
    updated_at: string | null
    /** Why the undo left it. */
    reason: string | null
  }
}
