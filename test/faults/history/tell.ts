import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { report } from '../report.ts'
import { check } from './check/check.ts'
import type { History, Violation } from './history.ts'

/**
 * Checks a history, and reports its figures for a row of the table. A history that breaks a promise is kept as a file.
 */
export function tell(
  history: History,
  fault: number | 'history',
): { violations: Violation[]; figures: string } {
  const violations = check(history)
  const count = (rule: string) => violations.filter((one) => one.rule === rule).length
  const { operations, receipts, deeds, reading } = history
  const kills = deeds.filter(({ what }) => what.startsWith('kill')).length
  const lost = operations.filter(({ status }) => status === null).length
  const events = reading.events.length
  const figures = `${kills} kills, ${operations.length} requests (${lost} without an answer), ${events} events, ${receipts.length} attempts arrived, ${violations.length} promises broken`
  report({ fault, figures, events, lost: count('lost'), phantom: count('phantom') })
  if (violations.length) {
    const file = join(mkdtempSync(join(tmpdir(), 'rapport-history-')), `seed-${history.seed}.json`)
    writeFileSync(file, JSON.stringify(history))
    console.log(`${figures}; the history is in ${file}`)
  }
  return { violations: violations.slice(0, 20), figures }
}
