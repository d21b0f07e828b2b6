import { channel } from 'node:diagnostics_channel'
import type { SQLInputValue, StatementSync } from 'node:sqlite'

/** Hears of each statement that held the event loop for too long: its first words, without a value, and milliseconds. */
export type OnSlow = (statement: string, ms: number) => void

// SQLite runs in this process: while a statement runs, nothing else does.
export const longest_statement_ms = 50
const shown_words = 12

// Around each statement, with its text, for whoever measures in another way than by the wall clock.
const begun = channel('rapport:sqlite:statement:begun')
const ended = channel('rapport:sqlite:statement:ended')

/** Runs statements, and tells which of them held the event loop longer than 50 ms. */
export function createWatch(onSlow: OnSlow) {
  function after(sql: string, from: number): number {
    const now = performance.now()
    if (now - from > longest_statement_ms)
      onSlow(sql.trim().split(/\s+/, shown_words).join(' '), Math.round(now - from))
    if (ended.hasSubscribers) ended.publish(sql)
    return now
  }
  function before(sql: string): number {
    if (begun.hasSubscribers) begun.publish(sql)
    return performance.now()
  }

  return {
    /** On this process's own clock, when the last statement ended. */
    last_ms: 0,
    all(sql: string, statement: StatementSync, parameters: readonly unknown[]) {
      const from = before(sql)
      const rows = statement.all(...(parameters as SQLInputValue[]))
      this.last_ms = after(sql, from)
      return rows
    },
    run(sql: string, statement: StatementSync, parameters: readonly unknown[] = []) {
      const from = before(sql)
      const changes = statement.run(...(parameters as SQLInputValue[]))
      this.last_ms = after(sql, from)
      return changes
    },
  }
}
export type Watch = ReturnType<typeof createWatch>
