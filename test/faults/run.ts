import { parseArgs } from 'node:util'
import { buildWebApp } from '../../src/web/build.ts'
import { type Engine, engines } from '../engines.ts'
import { addUp, judge } from './outcome.ts'
import { type Figures, writeFigures, writeLong } from './reliability.ts'
import { type Long, long } from './report.ts'
import { type Fault, faults } from './table.ts'
import { type Ran, runFaults, runFiles } from './tests.ts'

// All faults on both engines: npm run faults
// Some of them: npm run faults -- [--engine sqlite|postgres] [--minutes N] [--write] [NUMBER ...]
// --minutes starts nothing later than that; --write puts the figures into docs/reliability.md.
// As long as it is given: npm run faults -- history [--kills N] [--seed N] [--operations N]
//                         npm run faults -- soak [--minutes N]
// With postfix and dovecot of Debian:  npm run faults -- mail

const { values, positionals } = parseArgs({
  options: {
    engine: { type: 'string' },
    minutes: { type: 'string' },
    kills: { type: 'string' },
    seed: { type: 'string' },
    operations: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

for (const name of ['minutes', 'kills', 'seed', 'operations'] as const)
  if (values[name] !== undefined && !(Number(values[name]) > 0))
    throw new Error(`--${name} is a number above 0.`)
const chosen_engines = engines.filter((engine) => values.engine === undefined || values.engine === engine)
if (!chosen_engines.length) throw new Error('--engine is sqlite or postgres.')

const started_ms = Date.now()

async function runTable(chosen: Fault[]): Promise<{ held: number; ran: Ran[] }> {
  const minutes = Number(values.minutes ?? 600)
  const ran = new Map<Engine, Ran>()
  for (const [index, engine] of chosen_engines.entries()) {
    // The second engine gets the remaining time of the first.
    const deadline_ms = started_ms + (minutes * 60_000 * (index + 1)) / chosen_engines.length
    console.log(`\n${engine}: ${chosen.length} faults\n`)
    ran.set(engine, await runFaults(chosen, engine, deadline_ms))
  }
  const figures = new Map<number, Partial<Figures>>()
  console.log('')
  const held = chosen.filter((fault) => tellFault(fault, ran, figures)).length
  for (const [engine, { unstarted }] of ran)
    for (const file of unstarted) console.log(`${engine}: not started, the time was over: ${file}`)
  if (values.write) writeFigures(figures)
  return { held, ran: [...ran.values()] }
}

/** Prints how a fault went; true when it was held wherever it exists. */
function tellFault(fault: Fault, ran: Map<Engine, Ran>, figures: Map<number, Partial<Figures>>): boolean {
  const outcomes = [...ran].map(([engine, one]) => [engine, judge(fault, engine, one)] as const)
  const judged = outcomes.filter(([, outcome]) => outcome)
  const held = judged.length > 0 && judged.every(([, outcome]) => outcome?.held)
  const told = outcomes.map(([engine, outcome]) => `${engine}: ${outcome?.figures ?? '—'}`)
  const number = String(fault.number).padStart(2)
  console.log(`${held ? ' held ' : 'FAILED'} ${number} ${fault.fault} (${told.join(' | ')})`)
  for (const [engine, outcome] of outcomes) {
    for (const one of outcome?.missing ?? [])
      console.log(`          ${engine}: failed or did not run: ${one}`)
    const shown = outcome ? `${outcome.held ? 'held' : '**not held**'}: ${outcome.figures}` : '—'
    figures.set(fault.number, { ...figures.get(fault.number), [engine]: shown })
  }
  return held
}

async function runLong(name: Long): Promise<{ held: number; ran: Ran[] }> {
  const { kills, seed, operations, minutes } = values
  const asked = {
    HISTORY_KILLS: kills,
    HISTORY_SEED: seed,
    HISTORY_OPERATIONS: operations,
    SOAK_MINUTES: minutes,
  }
  const env = Object.fromEntries(Object.entries(asked).filter(([, value]) => value)) as Record<string, string>
  const ran: Ran[] = []
  let held = 0
  for (const engine of chosen_engines) {
    const file = `test/faults/${name}.fault.ts`
    const one = await runFiles(engine, [[file]], { deadline_ms: Number.POSITIVE_INFINITY, env })
    const passed = one.results.length > 0 && one.results.every((result) => result.passed)
    if (passed) held++
    const figures = one.reports.filter(({ fault }) => fault === name).map((told) => told.figures)
    console.log(`\n${passed ? 'held' : 'FAILED'} ${name} on ${engine}: ${figures.join('; ')}`)
    if (values.write) writeLong(name, engine, `${passed ? 'held' : '**not held**'}: ${figures.join('; ')}`)
    ran.push(one)
  }
  return { held, ran }
}

const [word = ''] = positionals
const name = long.find((one) => one === word)
const asked = positionals.map(Number)
const chosen = faults.filter(({ number }) => !asked.length || asked.includes(number))
if (!name && chosen.length < (new Set(asked).size || faults.length))
  throw new Error(
    `There is no fault ${positionals.join(', ')}: give numbers from 1 to ${faults.at(-1)?.number}, or ${long.join(', ')}.`,
  )
await buildWebApp(console.log)
const { held, ran } = name ? await runLong(name) : await runTable(chosen)
const { lost, phantom, unannounced, events, answers } = addUp(ran)
const took = Math.round((Date.now() - started_ms) / 1000)
console.log(`\n${events} events and ${answers} answers were counted, in ${took} s.`)
const what = name ? `${name} on ${held} of ${chosen_engines.length} engines` : `${held} faults`
console.log(`${what}, ${lost} lost, ${phantom} phantom, ${unannounced} answers ≥ 500 that were not announced`)
const wanted = name ? chosen_engines.length : chosen.length
process.exitCode = held === wanted && lost + phantom + unannounced === 0 ? 0 : 1
