import { appendFileSync } from 'node:fs'
import type { EventData } from 'node:test'

export type Result = { file: string; name: string; passed: boolean; duration_ms: number }

type Event = { type: string; data: EventData.TestPass | EventData.TestFail }

/** A reporter of node:test. For each test, it appends a line of JSON to the file that FAULT_RESULTS names. */
export default async function* report(source: AsyncIterable<Event>) {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    if (data.details.type === 'suite' || data.skip || data.todo) continue
    const { file = '', name, details } = data
    const result: Result = { file, name, passed: type === 'test:pass', duration_ms: details.duration_ms }
    appendFileSync(String(process.env.FAULT_RESULTS), `${JSON.stringify(result)}\n`)
  }
  yield ''
}
