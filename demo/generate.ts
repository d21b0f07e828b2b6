/**
 * Generates demo/*.ndjson from the invented names in cultures*.ts. The output is repeatable: the seed is fixed, and no clock
 * is read. `node demo/generate.ts` writes the files. `--check` exits 1 if a file differs.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { DemoData } from './data.ts'
import { inventData, inventedNames } from './invent.ts'
import { seededRandom } from './random.ts'

const seed = 20_261_121
const sizes = { contacts: 250, deals: 120, firstClosingDay: Date.UTC(2026, 11, 1) }

/** The whole data set. A pure function, so that a test can compare it with the files. */
export const generateDemoData = (): DemoData => inventData(seededRandom(seed), inventedNames, sizes)

/** Rows as JSON, one a line, without undefined fields. */
export function toLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

export const dataFile = (kind: keyof DemoData) => new URL(`./${kind}.ndjson`, import.meta.url)

if (import.meta.main) {
  const check = process.argv.includes('--check')
  for (const [kind, rows] of Object.entries(generateDemoData()) as [keyof DemoData, object[]][]) {
    const text = toLines(rows)
    if (!check) {
      writeFileSync(dataFile(kind), text)
    } else if (readFileSync(dataFile(kind), 'utf8') !== text) {
      console.error(`demo/${kind}.ndjson is not what demo/generate.ts makes; run it without --check.`)
      process.exitCode = 1
    }
  }
}
