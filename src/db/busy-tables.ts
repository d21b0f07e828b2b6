import type { Generated } from 'kysely'

/** The types of the tables of busy calendars (see tables.ts). */
export interface BusyTables {
  busy_calendars: {
    id: string
    workspace_id: number
    user_id: string
    name: string
    /** The address and the password, encrypted. */
    url: string
    username: string | null
    password: string | null
    /** Null: the person's zone. */
    time_zone: string | null
    poll_minutes: number
    stale_after_minutes: number
    created_at: string
    /** The headers of the answer that was read last. */
    etag: string | null
    last_modified: string | null
    last_read_at: string | null
    /** Since when it is stale, by the job that looks for stale ones; null: it is fresh. */
    stale_since: string | null
    /** The service time of that, and of the last reading of a whole file: an unchanged one repeats on. */
    last_read_ms: number | null
    expanded_ms: number | null
    /** The service time of the last refresh by hand. */
    refreshed_ms: number | null
    last_attempt_at: string | null
    error_code: string | null
    error_message: string | null
    /** Polls that failed since the last one that did not. */
    failures: Generated<number>
    busy_count: Generated<number>
    /** A JSON array of at most 20 {uid, reason}. */
    skipped: Generated<string>
    skipped_count: Generated<number>
    /** The periods that count are those of this generation. */
    generation: Generated<number>
    /** The hash of these periods. */
    digest: string | null
    /** The service time when the next poll is due, or, while claimed, when the lease ends. */
    run_at_ms: number
    claim_id: string | null
  }
  busy_periods: {
    workspace_id: number
    calendar_id: string
    generation: number
    start_at: string
    end_at: string
  }
}
