import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ZoneTable } from '../src/zones/zone.ts'

/** The bytes of a compiled zone file (RFC 9636, version 2). */
export function zoneFile({ first_ms, changes, rule }: ZoneTable): Buffer {
  const offsets = [...new Set([first_ms, ...changes.map(({ offset_ms }) => offset_ms)])]
  const header = (times: number, types: number) => {
    const bytes = Buffer.alloc(44)
    bytes.write('TZif2')
    ;[0, 0, 0, times, types, 4].forEach((n, i) => {
      bytes.writeUInt32BE(n, 20 + i * 4)
    })
    return bytes
  }
  const types = offsets.map((offset_ms) => {
    const bytes = Buffer.alloc(6)
    bytes.writeInt32BE(offset_ms / 1000)
    return bytes
  })
  const times = changes.map(({ at_ms }) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(BigInt(at_ms / 1000))
    return bytes
  })
  const kinds = Buffer.from(changes.map(({ offset_ms }) => offsets.indexOf(offset_ms)))
  const letters = Buffer.from('XXX\0')
  const old = [header(0, 1), Buffer.alloc(6), letters]
  const current = [header(times.length, types.length), ...times, kinds, ...types, letters]
  return Buffer.concat([...old, ...current, Buffer.from(`\n${rule}\n`)])
}

/** Writes compiled zone files of a version to a folder, as a system has them. */
export function writeZoneFolder(folder: string, version: string, zones: Record<string, ZoneTable>): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'tzdata.zi'), `# version ${version}\n`)
  for (const [name, table] of Object.entries(zones)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, zoneFile(table))
  }
}
