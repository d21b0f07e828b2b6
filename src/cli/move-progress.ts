import type { Progress } from '../move/copy.ts'
import type { Io } from './command.ts'

const redraw_ms = 100
const line_ms = 10_000
const bar_width = 24

const steps = { copy: 'Copying', check: 'Checking' }

const grouped = (n: number) => n.toLocaleString('en-US')

/**
 * Shows the progress of a copy: a bar on a terminal, else a line after each table and every 10 s. Each row counts twice,
 * because it is copied and then read back.
 */
export function createProgress({ out, status }: Io) {
  let all = 0
  let before = 0
  let current: Progress | undefined
  let shown_ms = -Infinity
  const started_ms = performance.now()

  function show({ step, table, rows, total }: Progress) {
    const done = before + rows
    const part = all ? Math.min(1, done / all) : 1
    const percent = `${Math.floor(part * 100)}%`
    if (!status)
      return out(
        `${steps[step]} ${table}: ${grouped(rows)} of ${grouped(total)} ${total === 1 ? 'row' : 'rows'} (${percent} of all).`,
      )
    const bar = '#'.repeat(Math.round(part * bar_width)).padEnd(bar_width, '-')
    const speed = Math.round(done / ((performance.now() - started_ms) / 1000))
    status(
      `[${bar}] ${percent}  ${steps[step]} ${table}: ${grouped(rows)} of ${grouped(total)}  ${grouped(speed)} rows/s`,
    )
  }

  return {
    start(totals: ReadonlyMap<string, number>) {
      const rows = [...totals.values()].reduce((sum, n) => sum + n, 0)
      all = rows * 2
      before = 0
      current = undefined
    },
    report(progress: Progress) {
      if (current && (current.table !== progress.table || current.step !== progress.step))
        before += current.rows
      current = progress
      const now_ms = performance.now()
      const due = now_ms - shown_ms > (status ? redraw_ms : line_ms)
      if (!due && (status || progress.rows < progress.total)) return
      shown_ms = now_ms
      show(progress)
    },
    end() {
      status?.('')
    },
  }
}
