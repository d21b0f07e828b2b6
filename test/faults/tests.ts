import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Engine, root, runNode, withEngine } from '../engines.ts'
import type { Reported } from './report.ts'
import type { Result } from './reporter.ts'
import { type Fault, patternOf } from './table.ts'

// Files that measure how long something takes run beside others in the suite, but not here.
const timed =
  /\.fault\.ts$|faults\/history|delivery\/(connector|deliver|resolve)\.test|webhooks\/(delivery|outcome)\.test/

/** Whether nothing may run beside a file. */
const isAlone = (file: string) => timed.test(file)

const of_one_engine: [folder: RegExp, engine: Engine][] = [
  [/\/sqlite\//, 'sqlite'],
  [/\/postgres\//, 'postgres'],
]

/** Whether a file says something about an engine; its folder says if it is about one alone. */
export const concerns = (file: string, engine: Engine): boolean =>
  of_one_engine.every(([folder, one]) => !folder.test(file) || one === engine)

/** The tests that hold some faults on an engine, each once, by their files. */
function testsOf(faults: Fault[], engine: Engine): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const { tests } of faults)
    for (const [file, names] of Object.entries(tests)) {
      if (!concerns(file, engine)) continue
      const known = found.get(file) ?? new Set()
      for (const name of names) known.add(name)
      found.set(file, known)
    }
  return found
}

export type Ran = { results: Result[]; reports: Reported[]; unstarted: string[] }

/**
 * Runs the tests of some faults on an engine until the time limit: first the fast ones, then each of the others alone.
 */
export async function runFaults(faults: Fault[], engine: Engine, deadline_ms: number): Promise<Ran> {
  const tests = testsOf(faults, engine)
  const files = [...tests.keys()]
  const quick = files.filter((file) => !isAlone(file))
  const groups = [...(quick.length ? [quick] : []), ...files.filter(isAlone).map((file) => [file])]
  return runFiles(engine, groups, {
    names: (file) => [...(tests.get(file) ?? [])],
    deadline_ms,
  })
}

type Wishes = { names?: (file: string) => string[]; deadline_ms: number; env?: Record<string, string> }

/** Runs groups of test files on an engine, one group after the other. Reports groups that do not start in time. */
export async function runFiles(
  engine: Engine,
  groups: string[][],
  { names, deadline_ms, env = {} }: Wishes,
): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-faults-'))
  const paths = { FAULT_RESULTS: join(folder, 'results'), FAULT_REPORT: join(folder, 'reports') }
  for (const path of Object.values(paths)) writeFileSync(path, '')
  const unstarted: string[] = []
  try {
    // Unlike the short tests of the suite, a soak needs the vacuum that a server has by default.
    const vacuumed = { autovacuum: 'on' }
    const run = async (settings: Record<string, string>) => {
      for (const files of groups) {
        if (Date.now() > deadline_ms) unstarted.push(...files)
        else await runNode(wordsFor(files, names), { ...settings, ...paths, ...env })
      }
    }
    await withEngine(engine, run, vacuumed)
    const results = readLines<Result>(paths.FAULT_RESULTS)
    const named = results.map((one) => ({ ...one, file: relative(root, one.file) }))
    return { results: named, reports: readLines<Reported>(paths.FAULT_REPORT), unstarted }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const reporter = fileURLToPath(new URL('reporter.ts', import.meta.url))

function wordsFor(files: string[], names?: (file: string) => string[]): string[] {
  const patterns = new Set(names ? files.flatMap(names).map(patternOf) : [])
  return [
    '--test',
    '--test-timeout=7200000',
    `--test-concurrency=${files.length > 1 ? 2 : 1}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stderr',
    ...[...patterns].map((pattern) => `--test-name-pattern=${pattern}`),
    ...files,
  ]
}

const readLines = <T>(path: string): T[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
