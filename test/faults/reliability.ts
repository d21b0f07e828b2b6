import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Engine, engines } from '../engines.ts'
import type { Long } from './report.ts'
import { type Fault, faults } from './table.ts'

const file = new URL('../../docs/reliability.md', import.meta.url)

/** The lines of docs/reliability.md between the markers of a section. */
export function readSection(section: string): string[] {
  const { text, from, to } = find(section)
  return text.slice(from, to).trim().split('\n')
}

/** Puts lines in place of what docs/reliability.md has between the markers of a section. */
function writeSection(section: string, lines: string[]): void {
  const { text, from, to } = find(section)
  writeFileSync(file, `${text.slice(0, from)}\n${lines.join('\n')}\n${text.slice(to)}`)
}

function find(section: string) {
  const text = readFileSync(file, 'utf8')
  const start = `<!-- ${section} -->`
  const from = text.indexOf(start) + start.length
  const to = text.indexOf('<!-- end -->', from)
  if (from < start.length || to < 0) throw new Error(`docs/reliability.md has no section ${section}.`)
  return { text, from, to }
}

/** The last figures of a fault, by engine. */
export type Figures = Record<Engine, string>

const table_head = ['| # | Fault | Promise | Tests | SQLite | PostgreSQL |', '|---|---|---|---|---|---|']

/** The cells of a row that do not depend on a run. */
export function fixedCells({ number, fault, promise, tests }: Fault): string {
  const files = Object.keys(tests).map((path) => `[${basename(path)}](../${path})`)
  const cells = [String(number), fault, promise, files.join('<br>')]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** The figures that the page has of each fault. */
function readFigures(): Map<number, Figures> {
  const found = new Map<number, Figures>()
  for (const line of readSection('faults')) {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    const [, number, , , , sqlite = '', postgres = ''] = cells
    if (Number(number)) found.set(Number(number), { sqlite, postgres })
  }
  return found
}

/** Writes the table with new figures in place of those of the page. */
export function writeFigures(changed: Map<number, Partial<Figures>>): void {
  const known = readFigures()
  const rows = faults.map((fault) => {
    const now = { sqlite: '', postgres: '', ...known.get(fault.number), ...changed.get(fault.number) }
    return `${fixedCells(fault)} ${engines.map((engine) => now[engine]).join(' | ')} |`
  })
  writeSection('faults', [...table_head, ...rows])
}

const titles = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/** Writes the figures of a long run on one engine. */
export function writeLong(name: Long, engine: Engine, figures: string): void {
  const known = readSection(name).filter((line) => line && !line.startsWith(`- ${titles[engine]}: `))
  writeSection(name, [...known, `- ${titles[engine]}: ${figures}`].sort().reverse())
}
