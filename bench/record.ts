import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { median } from './load.ts'

const file = new URL('../docs/performance.md', import.meta.url)

/** The header of a table. Its lines are made by `line` and have the same columns. */
export const head = (...columns: string[]): string[] => {
  const all = [...columns, 'wanted']
  return [`|${all.join('|')}|`, `|${'---|'.repeat(all.length)}`]
}

export const whole = (n: number) => Math.round(n).toLocaleString('en')
const hundredths = (n: number) => n.toFixed(2)

/** Returns a line of a table with the median of the rounds. Also prints it with the minimum and the maximum. */
export function line(
  cells: string[],
  rounds: readonly number[],
  wanted: { least: number } | { most: number } | null,
  show: (n: number) => string = hundredths,
): string {
  const middle = median(rounds)
  const range = `${show(Math.min(...rounds))} – ${show(Math.max(...rounds))}`
  const row = [...cells, show(middle), wanted ? verdict(middle, wanted) : '–']
  console.log([...row, range].join('   '))
  return `|${row.join('|')}|`
}

function verdict(n: number, wanted: { least: number } | { most: number }) {
  const [sign, limit] = 'least' in wanted ? ['≥', wanted.least] : ['≤', wanted.most]
  const is_met = sign === '≥' ? n >= limit : n <= limit
  return `${sign} ${limit} ${is_met ? 'ok' : 'not ok'}`
}
/** Whether a line has a figure that is not as wanted. */
export const isMissed = (row: string): boolean => row.endsWith(' not ok|')

/** The quotients of two sides in each round. */
export const quotients = (over: readonly number[], under: readonly number[]) =>
  over.map((n, round) => n / (under[round] as number))

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
