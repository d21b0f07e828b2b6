import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../engines.ts'
import type { TestFile } from './files.ts'

// How long each file took in the last run. A file that no run has timed counts as its mark says.
const place = join(root, 'node_modules/.cache/rapport/durations.json')
const long_ms = 30_000
const short_ms = 3000

const durations = read()

function read(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(place, 'utf8'))
  } catch {
    // The first run, or a run that was ended while it wrote.
    return {}
  }
}

const nameOf = (file: string, batch = '') => `${batch} ${file}`

/** Sorts the files of a batch by how long they are expected to take. */
export function longestFirst(files: TestFile[], batch?: string): void {
  const expected_ms = ({ file, marks }: TestFile) =>
    durations[nameOf(file, batch)] ?? (marks.includes('long') ? long_ms : short_ms)
  files.sort((a, b) => expected_ms(b) - expected_ms(a))
}

/** Notes how long a file of a named batch took. */
export function remember(file: string, batch: string | undefined, took_ms: number): void {
  if (batch) durations[nameOf(file, batch)] = took_ms
}

/** Writes what was noted down for the next run. */
export function keepDurations(): void {
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, JSON.stringify(durations))
}
