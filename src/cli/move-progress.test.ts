// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from './move-progress.ts'

const totals = new Map([
  ['companies', 1000],
  ['contacts', 3000],
])

function run(terminal: boolean) {
  const lines: string[] = []
  const shown: string[] = []
  const progress = createProgress({
    out: (line) => lines.push(line),
    err: () => {},
    env: {},
    ...(terminal && { status: (text: string) => void shown.push(text) }),
  })
  progress.start(totals)
  for (const step of ['copy', 'check'] as const)
    for (const table of ['companies', 'contacts'] as const) {
      const total = totals.get(table) ?? 0
      for (let rows = 500; rows <= total; rows += 500) progress.report({ step, table, rows, total })
    }
  progress.end()
  return { lines, shown }
}

test('without a terminal the progress is a line for each table, copied and then checked', () => {
  const { lines, shown } = run(false)
  assert.deepEqual(lines.slice(-4), [
    'Copying companies: 1,000 of 1,000 rows (12% of all).',
    'Copying contacts: 3,000 of 3,000 rows (50% of all).',
    'Checking companies: 1,000 of 1,000 rows (62% of all).',
    'Checking contacts: 3,000 of 3,000 rows (100% of all).',
  ])
  assert.deepEqual(shown, [])
})

test('on a terminal the progress is a bar that is drawn over and cleared at the end', () => {
  const { lines, shown } = run(true)
  assert.deepEqual(lines, [])
  assert.match(shown[0] ?? '', /^\[#+-+\] 6% {2}Copying companies: 500 of 1,000 {2}[\d,]+ rows\/s$/)
  assert.equal(shown.at(-1), '')
})
