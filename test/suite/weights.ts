import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../engines.ts'
import type { TestFile } from './files.ts'

// The seconds that each test file took on each engine, beside the others: npm run test:all -- --weigh writes them.
const place = join(root, 'test/suite/weights.json')
const weights: Record<string, number> = JSON.parse(readFileSync(place, 'utf8'))
const known = Object.values(weights).sort((a, b) => a - b)
const median = known[known.length >> 1] ?? 1

const nameOf = (file: string, batch = '') => `${batch} ${file}`

/** The seconds that a file of a batch is expected to take: the median, if nobody has weighed it. */
export const weightOf = ({ file }: TestFile, batch?: string): number => weights[nameOf(file, batch)] ?? median

/** Sorts the files of a batch by how long they are expected to take. */
export function longestFirst(files: TestFile[], batch?: string): void {
  files.sort((a, b) => weightOf(b, batch) - weightOf(a, batch))
}

/** The seconds that a run of these files is expected to take, by engine and by process. */
export function planOf(batches: [string, TestFile[]][], at_once: number): string[] {
  const lanes = Array.from({ length: at_once }, () => 0)
  const lines = batches.map(([name, files]) => {
    const seconds = files.map((file) => weightOf(file, name))
    return `${name}: ${files.length} files, ${total(seconds)} s`
  })
  const all = batches.flatMap(([name, files]) => files.map((file) => weightOf(file, name)))
  for (const seconds of all.sort((a, b) => b - a)) {
    const emptiest = lanes.indexOf(Math.min(...lanes))
    lanes[emptiest] = (lanes[emptiest] ?? 0) + seconds
  }
  return [...lines, `processes: ${lanes.map(Math.round).join(', ')} s`]
}

const total = (seconds: number[]) => Math.round(seconds.reduce((sum, one) => sum + one, 0))

const weighed: Record<string, number> = {}

/** Notes how long a file of a named batch took. */
export function remember(file: string, batch: string | undefined, took_ms: number): void {
  if (batch) weighed[nameOf(file, batch)] = Math.max(Math.round(took_ms / 100), 1) / 10
}

/** Writes what was noted down, beside the other files that there are. */
export function writeWeights(): void {
  const all = Object.entries({ ...weights, ...weighed })
  const kept = all.filter(([name]) => existsSync(join(root, name.split(' ')[1] as string)))
  writeFileSync(place, `${JSON.stringify(Object.fromEntries(kept.sort()), null, 2)}\n`)
}
