import type { Generated } from 'kysely'

/** The kinds of work. The subject of a kind is a member, a webhook, an import, …: its id. */
export const work_kinds = [
  'fan_out',
  'reassignment',
  'webhook_removal',
  'resend',
  'webhook_order',
  'backfill',
  'custom_field',
  'merge',
  'import_undo',
  'password_reset',
] as const
export type WorkKind = (typeof work_kinds)[number]

export interface WorkTable {
  id: string
  workspace_id: number
  kind: WorkKind
  subject: string
  state: string
  /** JSON: what is to be done, and how far it has come. Each kind has its own. */
  position: string
  /** The author of the request (events/actors.ts). */
  actor: string
  request_id: string | null
  /** The service time from which any process may take the next step. Null: it has ended, and answers still show it. */
  lease_ends_ms: number | null
  /** The failed attempts since the last step that succeeded. */
  attempts: Generated<number>
  last_error: Generated<string | null>
  created_at: string
}
