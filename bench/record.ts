import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

const file = new URL('../docs/performance.md', import.meta.url)

/** The header of a table that compares two measurements, with the median of their quotients. */
export const head = (one: string, other: string, quotient: string): string[] => [
  `| request | ${one} | ${other} | ${quotient} (median) | min – max | expected |`,
  '|---|---|---|---|---|---|',
]

/** Replaces the table of a section of docs/performance.md, and names the machine and the extent. */
export function record(section: string, extent: string, lines: string[]): void {
  const text = readFileSync(file, 'utf8')
  const start = `<!-- ${section} -->`
  const from = text.indexOf(start)
  const to = text.indexOf('<!-- end -->', from)
  if (from < 0 || to < 0) throw new Error(`docs/performance.md has no section ${section}.`)
  const machine = `${cpus().length} cores, Node ${process.version}, ${extent}.`
  const section_text = `${start}\n${machine}\n\n${lines.join('\n')}\n`
  writeFileSync(file, text.slice(0, from) + section_text + text.slice(to))
}
