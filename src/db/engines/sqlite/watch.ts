import { channel } from 'node:diagnostics_channel'
import type { SQLInputValue, StatementSync } from 'node:sqlite'

/** Called with each slow statement: its first 12 words, without values, and its milliseconds. */
export type OnSlow = (statement: string, ms: number) => void

// SQLite runs in this process, so a statement blocks the event loop.
const max_statement_ms = 50
const max_words = 12

// Published around each statement, with its text, for other measurements than elapsed time.
const begun = channel('rapport:sqlite:statement:begun')
const ended = channel('rapport:sqlite:statement:ended')

/** Runs statements, and reports each that blocked the event loop for more than 50 ms. */
export function createWatch(onSlow: OnSlow) {
  function after(sql: string, from_ms: number): number {
    const ended_ms = performance.now()
    const took_ms = ended_ms - from_ms
    if (took_ms > max_statement_ms) onSlow(sql.trim().split(/\s+/, max_words).join(' '), Math.round(took_ms))
    if (ended.hasSubscribers) ended.publish(sql)
    return ended_ms
  }
  function before(sql: string): number {
    if (begun.hasSubscribers) begun.publish(sql)
    return performance.now()
  }

  return {
    /** When the last statement ended, by performance.now(). */
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
