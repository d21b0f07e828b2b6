import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinedZone, tabledZone, type Zone, type ZoneTable, zoneOfNode } from './zone.ts'
import { parseZoneFile } from './zone-file.ts'

/** The rules of all zones, by one source. */
export type ZoneData = {
  source: 'node' | 'system' | 'rapport'
  /** The version of IANA's time zone database, such as 2026f. */
  version: string
  /** Null for a zone that this data lacks. */
  read(name: string): Zone | null
}

type ShippedTable = [offset_s: number, changes_s: number[], rule: string]
type Shipped = {
  version: string
  /** The time from which on its tables are complete, in s since 1970. */
  since_s: number
  /** By today's names. */
  zones: Record<string, ShippedTable>
  /** Other names, with the name of a zone above that has the same rules. */
  links: Record<string, string>
}

let shipped_file: Shipped | undefined
/** The data that Rapport ships, which scripts/generate-zones.ts makes. */
export function shipped(): Shipped {
  shipped_file ??= JSON.parse(readFileSync(new URL('./shipped.json', import.meta.url), 'utf8')) as Shipped
  return shipped_file
}

const shippedData = (): ZoneData => ({
  source: 'rapport',
  version: shipped().version,
  read(name) {
    const { zones, links, since_s } = shipped()
    const packed = zones[links[name] ?? name]
    if (!packed) return null
    const zone = tabledZone(unpacked(packed))
    const earlier = zoneOfNode(name)
    return earlier ? joinedZone(earlier, zone, since_s * 1000) : zone
  },
})

function unpacked([offset_s, changes_s, rule]: ShippedTable): ZoneTable {
  const changes = changes_s.flatMap((at_s, n) =>
    n % 2 ? [] : [{ at_ms: at_s * 1000, offset_ms: (changes_s[n + 1] ?? 0) * 1000 }],
  )
  return { first_ms: offset_s * 1000, changes, rule }
}

const nodeData: ZoneData = { source: 'node', version: process.versions.tz ?? '', read: zoneOfNode }

/** The compiled zone files of a folder, such as /usr/share/zoneinfo; null if the folder does not tell their version. */
export function folderData(folder: string): ZoneData | null {
  const version = versionOf(folder)
  if (version === null) return null
  return {
    source: 'system',
    version,
    read(name) {
      const bytes = readIfThere(join(folder, name))
      const table = bytes && parseZoneFile(bytes)
      return table && tabledZone(table)
    },
  }
}

// Linux has the first of these files, and macOS the second.
function versionOf(folder: string): string | null {
  for (const name of ['tzdata.zi', '+VERSION']) {
    const text = readIfThere(join(folder, name))?.toString('latin1', 0, 64) ?? ''
    const [, version] = /^(?:# version )?(\d{4}[a-z]+)\b/.exec(text) ?? []
    if (version) return version
  }
  return null
}

function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch {
    return null
  }
}

/** All sources of zone data, the newest first. Of the same version, the system's is first. */
export const sourcesOf = (folder: string): ZoneData[] =>
  [folderData(folder), nodeData, shippedData()]
    .filter((data) => data !== null)
    .sort((a, b) => (a.version < b.version ? 1 : a.version > b.version ? -1 : 0))
