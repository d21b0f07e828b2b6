import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob, relative, resolve } from 'node:path'
import { type Engine, type Env, root } from '../engines.ts'

const all = [
  'src/**/*.test.ts',
  'test/**/*.test.ts',
  'demo/**/*.test.ts',
  'docs/**/*.test.ts',
  'release/**/*.test.ts',
  'client/*.test.ts',
  'integrations/*/*.test.ts',
]

// A folder says what is about one engine alone.
const other = { sqlite: '**/postgres/**', postgres: '**/sqlite/**' }

/**
 * The marks that the first lines of a test file can have: `// runs: both, apart`.
 * - both: on both engines, always. Without it, a file runs on PostgreSQL in a run of everything only.
 * - once: on SQLite only, always: it opens no database, or what it states does not depend on the engine.
 * - apart: in a process of its own, because it measures or changes what a process has.
 * - source: it is apart, and on SQLite the processes that it starts run the sources, also in a run of all files.
 * - timed: it compares times, so it runs in a run of everything only, apart, and when all others are done.
 */
export const marks = ['both', 'once', 'apart', 'source', 'timed'] as const
export type Mark = (typeof marks)[number]

/** A test file, with what its own process has in its environment beside what the others have. */
export type TestFile = { file: string; marks: Mark[]; env?: Env }

/**
 * The tests of an engine; only those of the files, folders and patterns, when there are any. On PostgreSQL, `everything` has
 * also the files without the mark `both`, and both engines have those with the mark `timed`.
 */
export function filesFor(engine: Engine, words: string[], everything: boolean): TestFile[] {
  const found = globSync(all, { cwd: root }).sort()
  const asked = (word: string) => {
    const path = relative(root, resolve(word))
    return found.filter((file) => file.startsWith(`${path}/`) || matchesGlob(file, path))
  }
  const unknown = words.filter((word) => !asked(word).length)
  if (unknown.length) throw new Error(`There is no test ${unknown.join(', ')}.`)
  const files = words.length ? [...new Set(words.flatMap(asked))] : found
  return files
    .filter((file) => !matchesGlob(file, other[engine]))
    .map((file) => ({ file, marks: marksOf(file) }))
    .filter(({ marks }) => everything || !marks.includes('timed'))
    .filter(
      ({ file, marks }) =>
        engine === 'sqlite' ||
        marks.includes('both') ||
        matchesGlob(file, other.sqlite) ||
        (everything && !marks.includes('once')),
    )
}

/** The marks that a test file has. */
export function marksOf(file: string): Mark[] {
  const source = readFileSync(join(root, file), 'utf8')
  const [, words] = /^(?:\/\/.*\n)*?\/\/ runs: (.*)\n/.exec(source) ?? []
  const said = words?.split(', ') ?? []
  const unknown = said.find((word) => !marks.includes(word as Mark))
  if (unknown !== undefined) throw new Error(`${file} runs ${unknown}: it can be ${marks.join(', ')}.`)
  return said as Mark[]
}

const webBuilder = join(root, 'src/web/build.ts')
const processes = join(root, 'test/process.ts')

/** Whether a file of these, or what it loads or starts, opens the web app, which then has to be built. */
export const needWeb = (files: TestFile[]): boolean => files.some(({ file }) => reaches(file, webBuilder))

/** Whether a test starts the service as a process of its own. */
export const startsProcess = ({ file }: TestFile): boolean => reaches(file, processes)

/** Whether a file loads or names another one, itself or by what it loads. */
function reaches(file: string, wanted: string): boolean {
  const reached = new Set([join(root, file)])
  for (const path of reached)
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/'(\.{1,2}\/[^']+\.ts)'/g)) {
      const other = resolve(dirname(path), name)
      if (existsSync(other)) reached.add(other)
    }
  return reached.has(wanted)
}
