import type { EventData } from 'node:test'
import { inspect } from 'node:util'

/** A message of a worker to its parent: the outcome of a test, something it says, or that a file is done. */
export type Told =
  | { told: 'start'; name: string }
  | { told: 'pass' }
  | { told: 'skip'; name: string; why: string }
  | { told: 'fail'; name: string; place: string; error: string }
  | { told: 'note'; text: string }
  | { told: 'done'; file: string }

type Event =
  | { type: 'test:dequeue'; data: EventData.TestDequeue }
  | { type: 'test:start'; data: EventData.TestStart }
  | { type: 'test:pass'; data: EventData.TestPass }
  | { type: 'test:fail'; data: EventData.TestFail }
  | { type: 'test:diagnostic'; data: EventData.TestDiagnostic }

const tell = (told: Told) => process.send?.(told)

/** A reporter of node:test for worker.ts. The outermost suites are the files. */
export default async function* report(source: AsyncIterable<Event>) {
  const names: string[] = []
  for await (const { type, data } of source) {
    if (type === 'test:dequeue' && data.nesting > 0) tell({ told: 'start', name: data.name })
    if (type === 'test:start') names[data.nesting] = data.name
    if (type === 'test:diagnostic' && data.level !== 'info') tell({ told: 'note', text: data.message })
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const name = names.slice(1, data.nesting + 1).join(' › ')
    if (type === 'test:fail') tellFailure(name, data)
    else if (data.skip !== undefined) tell({ told: 'skip', name, why: String(data.skip) })
    else if (data.details.type !== 'suite') tell({ told: 'pass' })
    if (data.nesting === 0) tell({ told: 'done', file: data.name })
  }
  yield ''
}

function tellFailure(name: string, { details, file, line }: EventData.TestFail) {
  const { error } = details
  // Tests that failed in it report for themselves.
  if ((error as Error & { failureType?: string }).failureType === 'subtestsFailed') return
  tell({ told: 'fail', name, place: file ? `${file}:${line}` : '', error: inspect(error.cause ?? error) })
}
