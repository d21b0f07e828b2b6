import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { system_folder } from '../src/zones/folder.ts'
import { parseRule } from '../src/zones/posix-rule.ts'
import { tabledZone, type ZoneTable } from '../src/zones/zone.ts'
import { parseZoneFile } from '../src/zones/zone-file.ts'

// Writes src/zones/shipped.json from compiled zone files: node scripts/generate-zones.ts [FOLDER]. The folder needs tzdata.zi
// and zone.tab, as that of Debian's package tzdata has.

const since_ms = Date.UTC(2025)
const target = new URL('../src/zones/shipped.json', import.meta.url)

// tzdata.zi links these names to zones that have the same rules now, not to the new names of these zones.
const renamed: Record<string, string> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Coral_Harbour': 'America/Atikokan',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
}

/** The changes from `since_ms` on, without those at the end that the rule has, too. */
function packed({ first_ms, changes, rule }: ZoneTable): [number, number[], string] {
  const before = changes.findLast(({ at_ms }) => at_ms <= since_ms)
  const all = {
    first_ms: before?.offset_ms ?? first_ms,
    changes: changes.filter(({ at_ms }) => at_ms > since_ms),
    rule,
  }
  const needed = all.changes.findIndex((_, n) => isSame({ ...all, changes: all.changes.slice(0, n) }, all))
  const listed = needed < 0 ? all.changes : all.changes.slice(0, needed)
  return [
    all.first_ms / 1000,
    listed.flatMap(({ at_ms, offset_ms }) => [at_ms / 1000, offset_ms / 1000]),
    rule,
  ]
}

function isSame(table: ZoneTable, all: ZoneTable): boolean {
  const years = Array.from({ length: 15 }, (_, n) => new Date(since_ms).getUTCFullYear() + n)
  const ruled = years.flatMap(parseRule(all.rule) ?? (() => []))
  const times = [...all.changes, ...ruled].flatMap(({ at_ms }) => [at_ms - 1, at_ms])
  const [zone, whole] = [tabledZone(table), tabledZone(all)]
  return times
    .filter((at_ms) => at_ms >= since_ms)
    .every((at_ms) => zone.offsetAt(at_ms) === whole.offsetAt(at_ms))
}

function shippedFrom(folder: string): string {
  const read = (name: string) => readFileSync(join(folder, name))
  const source = read('tzdata.zi').toString()
  const [, version = ''] = /^# version (\S+)/.exec(source) ?? []
  const names = read('zone.tab')
    .toString()
    .split('\n')
    .flatMap((line) => (/^[A-Z]/.test(line) ? [line.split('\t')[2] ?? ''] : []))
    .sort()
  const is_named = new Set(names)
  const zones = names.map((name) => {
    const table = parseZoneFile(read(name))
    if (!table) throw new Error(`${name} of ${folder} is not a zone file.`)
    return [name, packed(table)] as const
  })
  const links = source.split('\n').flatMap((line) => {
    const [kind, to = '', from = ''] = line.split(' ')
    const current = renamed[from] ?? to
    return kind === 'L' && !is_named.has(from) && is_named.has(current) ? [[from, current] as const] : []
  })
  const lines = (entries: readonly (readonly [string, unknown])[]) =>
    entries.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(',\n')
  return `{
  "version": ${JSON.stringify(version)},
  "since_s": ${since_ms / 1000},
  "zones": {
${lines(zones)}
  },
  "links": {
${lines(links.sort(([a], [b]) => (a < b ? -1 : 1)))}
  }
}
`
}

const text = shippedFrom(process.argv[2] ?? system_folder)
writeFileSync(target, text)
console.log(`Wrote ${target.pathname}: ${text.length} bytes`)
