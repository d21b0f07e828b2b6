import type { Db } from '../db/db.ts'
import type { Service } from '../http/service.ts'
import type { BuildBody } from './delivery/bodies.ts'
import type { Dispatcher } from './delivery/dispatcher.ts'
import type { TargetPolicy } from './registration/target.ts'

/** The service as the routes of webhooks use it. */
export type WebhookService = Service & {
  policy: TargetPolicy
  dispatcher: Dispatcher
  buildBody: BuildBody
  /** Reads the present titles of records. The function that it returns has null for a record without one. */
  findTitles: (
    db: Db,
    workspace_id: number,
    records: readonly { kind: string; id: string }[],
  ) => Promise<(kind: string, id: string) => string | null>
}
