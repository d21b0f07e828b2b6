import type { Clock } from '../../clock.ts'
import type { Database } from '../../db/db.ts'
import { setZoneFolder, zoneSources } from '../../zones/zones.ts'
import { differingZones } from './in-use.ts'

type Logger = { warn(facts: object, text: string): void }

/**
 * Returns a function that takes the newest zone data: the system may get newer files while the service runs. It logs the
 * zones in use whose rules are not those of Node, once for each version.
 */
export function watchZones(db: Database['db'], clock: Clock, folder: string, logger: Logger) {
  let logged = ''
  return async (): Promise<void> => {
    setZoneFolder(folder)
    const [newest] = zoneSources()
    if (!newest || newest.source === 'node' || newest.version === logged) return
    const zones = await differingZones(db, clock.now())
    const { source, version } = newest
    logged = version
    if (!zones.length) return
    const facts = { zones, source, version, node: process.versions.tz }
    logger.warn(
      facts,
      'zones in use have other rules than those of Node; rapport doctor lists moved appointments',
    )
  }
}
