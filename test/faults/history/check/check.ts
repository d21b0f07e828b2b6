import type { History, Violation } from '../history.ts'
import { checkChains } from './chains.ts'
import { deedsOf } from './deeds.ts'
import { checkLog, checkReceipts, checkSchedule, hooksOf } from './deliveries.ts'
import { checkAnswers, checkFeed, checkTotals } from './feed.ts'
import { checkMarks, checkNotes, checkOnce, checkRecords } from './records.ts'

/**
 * Checks a history against the contract. It sends no request, and sees only requests, answers, deliveries and the final
 * state.
 */
export function check(history: History): Violation[] {
  const deeds = deedsOf(history.operations)
  const hooks = hooksOf(deeds)
  const { violations, origins } = checkRecords(history, deeds)
  return [
    ...violations,
    ...checkMarks(history, deeds),
    ...checkNotes(history, deeds),
    ...checkOnce(deeds, history.reading.events),
    ...checkChains(history.reading.events),
    ...checkFeed(history, origins),
    ...checkTotals(history),
    ...checkAnswers(history),
    ...checkLog(history, hooks, origins),
    ...checkReceipts(history, hooks),
    ...checkSchedule(history, deeds),
  ]
}
