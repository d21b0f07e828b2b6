import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Db, Reading } from '../db/db.ts'
import type { Seal } from '../db/seal.ts'
import type { EventDefinition } from '../events/define.ts'
import type { Resource } from '../resources/resource.ts'
import type { RecheckAccess } from './auth.ts'
import type { ReadRights } from './scopes.ts'
import type { OpenSnapshot } from './snapshots.ts'
import type { Writer } from './write.ts'

/** The running service as routes use it. app.ts makes it once; a room that needs more of it adds that to this type. */
export type Service = {
  /** All resources, in the order of the interface. */
  resources: readonly Resource[]
  rights: ReadRights
  db: Db
  reading: Reading
  openSnapshot: OpenSnapshot
  write: Writer
  clock: Clock
  seal: Seal
  recheckAccess: RecheckAccess
  config: Pick<
    Config,
    'trash_days' | 'max_webhooks' | 'booking_rate_per_second' | 'public_url' | 'max_import_mb'
  >
  /** Every scope that a key can have. */
  scopes: readonly string[]
  /** The events that a webhook can subscribe to. */
  catalogue: readonly EventDefinition[]
  /** Their names, in the order of the catalogue. */
  event_names: readonly string[]
}
