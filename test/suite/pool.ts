import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Env, endGroup, environmentOf, exitOf, root } from '../engines.ts'
import { countFrom } from './cpu.ts'
import type { Mark, TestFile } from './files.ts'
import type { Told } from './reporter.ts'
import { longestFirst, remember, weightOf } from './weights.ts'
import type { Order } from './worker.ts'

/** How a batch went. Tests of `unsteady` failed beside other files, and passed when they ran alone. */
export type Outcome = { passed: number; failures: Failure[]; unsteady: Failure[] }
/** A failed test, and the first lines of its error. It names its file if that may run again. */
export type Failure = { name: string; text: string; again?: string }

/** Files that may share a process, and the environment of that process. */
export type Batch = { name?: string; files: TestFile[]; env: Env }
type Wishes = {
  tell?: (line: string) => void
  /** Where the processes write their errors. */
  errors?: 'inherit' | number
  silence_ms?: number
  farewell_ms?: number
  /** How many failed files run again, alone: those of a stall. With more of them, none runs again. */
  repeated_files?: number
}
type Limits = Required<Omit<Wishes, 'repeated_files'>>

// More than there are cores: a test often waits for a timer, a browser or a database.
export const at_once = Number(process.env.TEST_PROCESSES) || availableParallelism() + 2
// A test that takes longer hangs: the longest needs 2 minutes here, and several times as much on a busy machine.
const test_ms = 600_000
// A long diff is printed in full where its file ends.
const repeated_lines = 15

/**
 * Runs test files in a few processes, and tells of each how it went. A process that tells nothing for `silence_ms` is
 * ended, and so is one that still runs `farewell_ms` after its last file. Up to `repeated_files` failed files run again,
 * alone. Returns the outcome of each batch.
 */
export async function runFiles(
  batches: Batch[],
  {
    tell = console.log,
    errors = 'inherit',
    silence_ms = 720_000,
    farewell_ms = 30_000,
    repeated_files = 0,
  }: Wishes = {},
): Promise<Outcome[]> {
  const wishes = { tell, errors, silence_ms, farewell_ms }
  const queues = batches.map((batch) => createQueue(batch, wishes))
  const workers = Array.from({ length: at_once }, async () => {
    for (let run = nextOf(queues); run; run = nextOf(queues)) await run()
  })
  await Promise.all(workers)
  for (const { timed } of queues) for (const run of timed) await run()
  const repeats = queues.flatMap(({ repeats }) => repeats())
  const certain = queues.some(({ outcome }) => outcome.failures.some(({ again }) => !again))
  if (!certain && repeats.length <= repeated_files) for (const repeat of repeats) await repeat()
  return queues.map(({ outcome }) => outcome)
}

/** The file that a free place runs: it belongs to the batch with the most seconds left for each of its processes. */
const nextOf = (queues: Queue[]) =>
  queues.reduce((most, queue) => (queue.share() > most.share() ? queue : most)).next()

function createQueue(batch: Batch, wishes: Limits) {
  const { name, files } = batch
  const outcome: Outcome = { passed: 0, failures: [], unsteady: [] }
  const said = (line: string) => wishes.tell(name ? line.replace(/^[✔✖-] /, `$&${name} `) : line)
  const run = (queue: TestFile[], own: Env = {}, into = outcome) =>
    runWorker(queue, { ...batch, env: { ...batch.env, ...own } }, into, { ...wishes, tell: said })
  const marked = (mark: Mark) => files.filter(({ marks }) => marks.includes(mark))
  const apart = [...marked('apart'), ...marked('source')]
  const timed = marked('timed')
  const others = files.filter((file) => !apart.includes(file) && !timed.includes(file))
  // The end of the suite waits for no file that has just begun.
  for (const some of [apart, others]) longestFirst(some, name)
  /** Runs a failed file in a process of its own. If it passes, its failures move to `unsteady`. */
  async function repeat({ file, env }: TestFile) {
    said(`- ${file} runs again, alone.`)
    const second: Outcome = { passed: 0, failures: [], unsteady: [] }
    await run([{ file, marks: [] }], env, second)
    if (second.failures.length) return
    const { failures = [], unsteady = [] } = Object.groupBy(outcome.failures, ({ again }) =>
      again === file ? 'unsteady' : 'failures',
    )
    outcome.failures = failures
    outcome.unsteady.push(...unsteady)
  }
  let processes = 0
  const left = () => [...apart, ...others].reduce((sum, file) => sum + weightOf(file, name), 0)
  return {
    outcome,
    /** Run those that compare times, when no other file runs. */
    timed: timed.map((file) => () => run([file], file.env)),
    /** Run each failed file again. */
    repeats: () =>
      files
        .filter(({ file }) => outcome.failures.some(({ again }) => again === file))
        .map((file) => () => repeat(file)),
    share: () => left() / (processes + 1),
    /** Runs the next files in a process of their own; null if there are none. */
    next() {
      if (!apart.length && !others.length) return null
      const file = apart.shift()
      processes++
      return () => (file ? run([file], file.env) : run(others)).finally(() => processes--)
    },
  }
}
type Queue = ReturnType<typeof createQueue>

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
// A young generation of 16 to 32 MiB: tests make much garbage, and fewer collections save a tenth of their CPU time.
const words = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=32',
  `--import=${new URL('test-hook.ts', import.meta.url)}`,
  `--test-timeout=${test_ms}`,
  `--test-reporter=${here('reporter.ts')}`,
  here('worker.ts'),
]

/** Takes files off the queue and runs them in one process, until there are no more or one of them has ended it. */
async function runWorker(queue: TestFile[], { name, env }: Batch, outcome: Outcome, wishes: Limits) {
  const { tell, errors, silence_ms, farewell_ms } = wishes
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: environmentOf(env),
    stdio: ['ignore', 'inherit', errors, 'ipc'],
    detached: true,
  })
  const told_all = once(child, 'disconnect')
  const turns: Turn[] = []
  const next = () => {
    const file = queue.shift()?.file
    const count = countFrom(child.pid as number)
    const took = (ms: number) => {
      remember(file as string, name, ms)
      count(file as string, name)
    }
    if (file) turns.push(createTurn(file, outcome, tell, took))
    const order: Order = file ? { file } : { file: null, farewell_ms }
    // A process that has just ended takes no order: its exit tells of it.
    if (child.connected) child.send(order, () => {})
  }
  const silence = setTimeout(() => {
    turns.at(-1)?.breakOff(`It told nothing for ${silence_ms / 1000} s, so its process was ended.`)
    endGroup(child, 'SIGKILL')
  }, silence_ms)
  child.on('message', (told: Told) => {
    silence.refresh()
    if (told.told === 'note') tell(told.text)
    else if (turns.at(-1)?.hear(told) === 'done') next()
  })
  next()
  try {
    const exit = await exitOf(child)
    await told_all
    turns.at(-1)?.breakOff(`Its process ended with ${exit}.`)
    // Errors by which no test has failed, such as an error that came when it was over.
    if (exit !== 0 && !turns.some(({ failed }) => failed()))
      outcome.failures.push({
        name: `the process of ${turns.map(({ file }) => file).join(', ')}`,
        text: `  It ended with ${exit}.`,
      })
  } finally {
    clearTimeout(silence)
  }
}

/** A failed test, an error outside of tests, or a failure that a second run would hide. */
type Certainty = 'test' | 'outside' | 'certain'
const certaintyOf = ({ place, error }: { place: string; error: string }): Certainty =>
  error.includes('Property failed after') ? 'certain' : place === '' ? 'outside' : 'test'

const indented = (text: string) => text.replaceAll(/^/gm, '  ')

/** One file in a worker: what it tells goes into the outcome and to the terminal. */
function createTurn(
  file: string,
  outcome: Outcome,
  tell: (line: string) => void,
  took: (ms: number) => void,
) {
  const started_ms = performance.now()
  const failures: string[] = []
  // The running files.
  let test = ''
  let over = false
  const found: { failure: Failure; certainty: Certainty }[] = []
  const fail = (name: string, text: string, certainty: Certainty) => {
    const said = indented(`${name}\n${text}`.trim())
    if (over) tell(`\n${said}\n`)
    failures.push(said)
    const failure = {
      name: [file, name].filter(Boolean).join(': '),
      text: indented(text.trim().split('\n').slice(0, repeated_lines).join('\n')),
    }
    found.push({ failure, certainty })
    outcome.failures.push(failure)
  }
  const end = () => {
    over = true
    // A failed test may leave work behind that ends in an error outside of it.
    const has = (certainty: Certainty) => found.some((one) => one.certainty === certainty)
    if (has('test') && !has('certain')) for (const { failure } of found) failure.again = file
    const took_ms = Math.round(performance.now() - started_ms)
    took(took_ms)
    const seconds = (took_ms / 1000).toFixed(1)
    tell(`${failures.length ? '✖' : '✔'} ${file} (${seconds} s)`)
    for (const failure of failures) tell(`\n${failure}\n`)
  }
  return {
    file,
    failed: () => failures.length > 0,
    hear(told: Exclude<Told, { told: 'note' }>) {
      if (told.told === 'start') test = told.name
      else if (told.told === 'pass') outcome.passed++
      else if (told.told === 'skip') tell(`- ${file}: ${told.name}: not run: ${told.why}`)
      else if (told.told === 'fail') fail(told.name, `${told.place}\n${told.error}`, certaintyOf(told))
      else end()
      return told.told
    },
    /** Fails the file unless it is over. */
    breakOff(text: string) {
      if (over) return
      fail(test, text, 'certain')
      end()
    },
  }
}
type Turn = ReturnType<typeof createTurn>
