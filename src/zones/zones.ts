import { sourcesOf, type ZoneData } from './data.ts'
import { system_folder } from './folder.ts'
import type { Zone } from './zone.ts'

export type { Zone } from './zone.ts'

let folder = system_folder
let sources: ZoneData[] | undefined
const known = new Map<string, Zone>()

/** Takes the zone data of a folder from now on, if it is newer than that of Node and of Rapport. Reads the version again. */
export function setZoneFolder(path: string): void {
  folder = path
  sources = undefined
  known.clear()
}

/** All zone data of this process, the newest first. */
export function zoneSources(): readonly ZoneData[] {
  sources ??= sourcesOf(folder)
  return sources
}

/** The clock of a zone by the newest data that has it. Throws RangeError for an unknown name. */
export function zoneOf(name: string): Zone {
  const found = known.get(name)
  if (found) return found
  for (const source of zoneSources()) {
    const zone = source.read(name)
    if (!zone) continue
    known.set(name, zone)
    return zone
  }
  throw new RangeError(`Unknown time zone: ${name}`)
}
