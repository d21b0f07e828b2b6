import type { Generated } from 'kysely'

/** A mail: a row of the outbox until it is finished, then of the log. */
export interface MailsTable {
  id: string
  workspace_id: number
  kind: string
  status: 'pending' | 'sent' | 'failed' | 'cancelled' | 'not_sent'
  reason: string | null
  /** Empty after an erasure. */
  recipient: string
  /** The key by which the log finds the recipient. */
  recipient_key: string
  user_id: string | null
  /** The visitor, or the contact that the text names. An erasure finds the mail by it. */
  contact_id: number | null
  record_kind: string | null
  record_id: string | null
  subject: string
  language: string
  /** Both have a mark in place of each token (mails/render.ts). */
  text: string
  html: string
  /** The tokens of its links as a JSON array, encrypted; null when no attempt may need them. */
  tokens: string | null
  /** The wall clock time until which a finished mail keeps its tokens; null: it has none. */
  tokens_until: string | null
  calendar: string | null
  calendar_method: string | null
  /** The subject of its link to unsubscribe (mails/unsubscribing.ts). */
  unsubscribe: string | null
  message_id: string
  /** The lowest is sent first. */
  urgency: number
  /** The service time when the next attempt is due, or, while claimed, when the lease ends. Null: finished. */
  run_at_ms: number | null
  /** The service time from which a pending mail is failed. */
  expires_ms: number
  /** The wall clock time from which a pending mail is cancelled. */
  useless_at: string | null
  /** Attempts that count against the mail. */
  tries: Generated<number>
  /** All attempts but interrupted ones. */
  attempt_count: Generated<number>
  /** 1: its attempt has no retries. */
  is_single: Generated<number>
  claim_id: string | null
  claimed_at_ms: number | null
  /** Consecutive claims that ended without an outcome. */
  interruptions: Generated<number>
  last_attempt_ms: number | null
  created_at: string
  finished_at: string | null
}

export interface MailTables {
  mails: MailsTable
  mail_attempts: {
    workspace_id: number
    mail_id: string
    number: number
    started_at: string
    duration_ms: number
    /** Host and port. */
    server: string
    tls: number
    response_code: number | null
    response_text: string | null
    error_code: string | null
    error_message: string | null
  }
  /** One row: what all processes know of the SMTP server. */
  mail_server: {
    id: number
    /** Consecutive faults of the server. While there is one, one mail at a time is tried. */
    failures: Generated<number>
    failed_at_ms: number | null
    next_try_ms: number | null
    failing_since_ms: number | null
    /** The workspaces whose owners and administrators were notified of this outage, as a JSON array of ids. */
    notified_workspaces: Generated<string>
    last_success_at: string | null
    last_error_at: string | null
    last_error_code: string | null
    last_error_message: string | null
  }
  /** Links of mails that set a new password. */
  reset_links: { hash: string; user_id: string; expires_at: string }
  /** Appointments that visitors made: for mails and calendar files (resources/appointments/bookings.ts). */
  bookings: {
    workspace_id: number
    appointment_id: number
    uid: string | null
    sequence: Generated<number>
    token: string | null
    language: string | null
    time_zone: string | null
    /** When its reminders are looked at next; null: never (resources/appointments/reminders.ts). */
    remind_at: Generated<string | null>
    /** The reminders that were made and whose start is to come, as a JSON array. */
    reminded: Generated<string>
  }
  /** Addresses of visitors that want no reminders of a workspace, as keyed hashes. */
  reminder_stops: { workspace_id: number; address_hash: string }
  /** Calendars that programs of a person read. */
  calendar_feeds: {
    id: string
    workspace_id: number
    user_id: string
    /** SHA-256 of the token in the address. */
    hash: string
    name: string
    activities: 'none' | 'todo' | 'event'
    details: 'full' | 'busy'
    created_at: string
    last_read_at: Generated<string | null>
  }
  mail_causes: { subject: string; at_ms: number; mail_id: string }
}
