import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Env, endGroup, environmentOf, exitOf, root } from '../engines.ts'
import type { TestFile } from './files.ts'
import type { Told } from './reporter.ts'
import type { Order } from './worker.ts'

export type Outcome = { passed: number; failures: string[] }

type Wishes = { tell?: (line: string) => void; silence_ms?: number; farewell_ms?: number }

// Two at a time also on two cores: many tests wait for something.
const at_once = Math.max(2, availableParallelism() - 1)
// A test that takes longer fails.
const test_ms = 180_000

/**
 * Runs test files in a few processes, and tells of each how it went. A process that tells nothing for `silence_ms` is
 * ended, and so is one that still runs `farewell_ms` after its last file.
 */
export async function runFiles(
  files: TestFile[],
  env: Env,
  { tell = console.log, silence_ms = 240_000, farewell_ms = 30_000 }: Wishes = {},
): Promise<Outcome> {
  const outcome: Outcome = { passed: 0, failures: [] }
  const run = (queue: TestFile[]) => runWorker(queue, env, outcome, { tell, silence_ms, farewell_ms })
  const alone = files.filter(({ marks }) => marks.includes('alone'))
  const apart = files.filter(({ marks }) => marks.includes('apart') && !marks.includes('alone'))
  const others = files.filter((file) => !alone.includes(file) && !apart.includes(file))
  const each = async (queue: TestFile[]) => {
    for (let file = queue.shift(); file; file = queue.shift()) await run([file])
  }
  const workers = Array.from({ length: at_once }, async () => {
    await each(apart)
    while (others.length) await run(others)
  })
  await Promise.all(workers)
  await each(alone)
  return outcome
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const words = [`--test-timeout=${test_ms}`, `--test-reporter=${here('reporter.ts')}`, here('worker.ts')]

/** Takes files off the queue and runs them in one process, until there are no more or one of them has ended it. */
async function runWorker(queue: TestFile[], env: Env, outcome: Outcome, wishes: Required<Wishes>) {
  const { tell, silence_ms, farewell_ms } = wishes
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: environmentOf(env),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  })
  const told_all = once(child, 'disconnect')
  const turns: Turn[] = []
  const next = () => {
    const file = queue.shift()?.file
    if (file) turns.push(createTurn(file, outcome, tell))
    const order: Order = file ? { file } : { file: null, farewell_ms }
    if (child.connected) child.send(order)
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
    // What no test has failed by, such as an error that came when it was over.
    if (exit !== 0 && !turns.some(({ failed }) => failed()))
      outcome.failures.push(`the process of ${turns.map(({ file }) => file).join(', ')} ended with ${exit}`)
  } finally {
    clearTimeout(silence)
  }
}

/** One file in a worker: what it tells goes into the outcome and to the terminal. */
function createTurn(file: string, outcome: Outcome, tell: (line: string) => void) {
  const started_ms = performance.now()
  const failures: string[] = []
  // What runs.
  let test = ''
  let over = false
  const fail = (name: string, text: string) => {
    failures.push(`${name}\n${text}`.trim().replaceAll(/^/gm, '  '))
    outcome.failures.push([file, name].filter(Boolean).join(': '))
  }
  const end = () => {
    over = true
    const seconds = ((performance.now() - started_ms) / 1000).toFixed(1)
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
      else if (told.told === 'fail') fail(told.name, `${told.place}\n${told.error}`)
      else end()
      return told.told
    },
    /** Fails the file unless it is over. */
    breakOff(text: string) {
      if (over) return
      fail(test, text)
      end()
    },
  }
}
type Turn = ReturnType<typeof createTurn>
