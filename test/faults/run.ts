import { parseArgs } from 'node:util'
import { buildWebApp } from '../../src/web/build.ts'
import { type Engine, engines } from '../engines.ts'
import { addUp, judge } from './outcome.ts'
import { type Figures, writeFigures } from './reliability.ts'
import { faults } from './table.ts'
import { type Ran, runFaults } from './tests.ts'

// All faults on both engines: npm run faults
// Some of them: npm run faults -- [--engine sqlite|postgres] [--minutes N] [--write] [NUMBER ...]
// --minutes starts nothing later than that; --write puts the figures into docs/reliability.md.

const { values, positionals } = parseArgs({
  options: {
    engine: { type: 'string' },
    minutes: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const asked = positionals.map(Number)
const unknown = positionals.filter((_, at) => !faults.some(({ number }) => number === asked[at]))
if (unknown.length) throw new Error(`There is no fault ${unknown.join(', ')}: give numbers from 1 to 50.`)
const chosen_engines = engines.filter((engine) => values.engine === undefined || values.engine === engine)
if (!chosen_engines.length) throw new Error('--engine is sqlite or postgres.')
const minutes = Number(values.minutes ?? 600)
if (!(minutes > 0)) throw new Error('--minutes is a number above 0.')

const started_ms = Date.now()
const chosen = faults.filter(({ number }) => !asked.length || asked.includes(number))
await buildWebApp(console.log)
const ran = new Map<Engine, Ran>()
for (const [index, engine] of chosen_engines.entries()) {
  // What one engine leaves over is the other's.
  const deadline_ms = started_ms + (minutes * 60_000 * (index + 1)) / chosen_engines.length
  console.log(`\n${engine}: ${chosen.length} faults\n`)
  ran.set(engine, await runFaults(chosen, engine, deadline_ms))
}

let held = 0
const figures = new Map<number, Partial<Figures>>()
console.log('')
for (const fault of chosen) {
  const outcomes = chosen_engines.map((engine) => [engine, judge(fault, engine, ran.get(engine)!)] as const)
  const judged = outcomes.filter(([, outcome]) => outcome)
  const good = judged.length > 0 && judged.every(([, outcome]) => outcome?.held)
  if (good) held++
  const told = outcomes.map(([engine, outcome]) => `${engine}: ${outcome?.figures ?? '—'}`)
  console.log(
    `${good ? ' held ' : 'FAILED'} ${String(fault.number).padStart(2)} ${fault.fault} (${told.join(' | ')})`,
  )
  for (const [engine, outcome] of outcomes) {
    for (const missing of outcome?.missing ?? [])
      console.log(`          ${engine}: failed or did not run: ${missing}`)
    const shown = outcome ? `${outcome.held ? 'held' : '**not held**'}: ${outcome.figures}` : '—'
    figures.set(fault.number, { ...figures.get(fault.number), [engine]: shown })
  }
}
for (const [engine, { unstarted }] of ran)
  for (const file of unstarted) console.log(`${engine}: not started, the time was over: ${file}`)
if (values.write) writeFigures(figures)

const totals = addUp([...ran.values()])
const took = Math.round((Date.now() - started_ms) / 1000)
console.log(`\n${totals.events} events and ${totals.answers} answers were counted, in ${took} s.`)
console.log(
  `${held} faults, ${totals.lost} lost, ${totals.phantom} phantom, ${totals.unannounced} answers ≥ 500 that were not announced`,
)
const clean = totals.lost + totals.phantom + totals.unannounced === 0
process.exitCode = held === chosen.length && clean ? 0 : 1
