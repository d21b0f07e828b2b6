import type { Engine } from '../engines.ts'
import type { Fault } from './table.ts'
import { patternOf } from './table.ts'
import { concerns, type Ran } from './tests.ts'

/** How a fault went on an engine; null when none of its tests is about this engine. */
export type Outcome = { held: boolean; figures: string; missing: string[] } | null

/** Judges a fault by what ran: each of its tests must have run, and passed. */
export function judge(fault: Fault, engine: Engine, { results, reports }: Ran): Outcome {
  const missing: string[] = []
  let passed = 0
  let duration_ms = 0
  for (const [file, names] of Object.entries(fault.tests)) {
    if (!concerns(file, engine)) continue
    const here = results.filter((one) => one.file === file)
    for (const name of names) {
      const pattern = new RegExp(`^${patternOf(name)}`)
      const found = here.filter((one) => pattern.test(one.name))
      const good = found.filter((one) => one.passed)
      if (!found.length || good.length < found.length) missing.push(`${file}: ${name}`)
      passed += good.length
      for (const one of good) duration_ms += one.duration_ms
    }
  }
  if (!passed && !missing.length) return null
  const told = reports.filter((one) => one.fault === fault.number && one.figures)
  const measured = told.map(({ figures }) => figures).join('; ')
  const count = `${passed} ${passed === 1 ? 'test' : 'tests'}, ${(duration_ms / 1000).toFixed(1)} s`
  return { held: !missing.length, figures: measured || count, missing }
}

type Totals = { lost: number; phantom: number; unannounced: number; events: number; answers: number }

/** The counts of all tests together. */
export function addUp(all: Ran[]): Totals {
  const totals: Totals = { lost: 0, phantom: 0, unannounced: 0, events: 0, answers: 0 }
  for (const { reports } of all)
    for (const one of reports)
      for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += one[name] ?? 0
  return totals
}
