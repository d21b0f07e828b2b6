import { isBusy, type Outcomes, Problem, patiently } from './client.ts'
import { type BatchItem, type RecordKind, recordApi } from './record-api.ts'

// The limit of a request.
const max_items = 1000

/**
 * Changes records in requests of at most 1,000. Each record succeeds or fails for itself. `signal` stops it between two
 * requests, and while it waits for a busy service.
 */
export async function runBatch<Item>(
  kind: RecordKind,
  items: readonly Item[],
  itemOf: (item: Item) => BatchItem,
  onProgress: (done: number) => void = () => {},
  signal?: AbortSignal,
): Promise<Outcomes<Item>> {
  const unchanged = new Set<Item>()
  const outcomes: Outcomes<Item> = { done: [], failed: [], stopped: [], unchanged }
  for (let from = 0; from < items.length; from += max_items) {
    if (signal?.aborted) {
      outcomes.stopped.push(...items.slice(from))
      break
    }
    const part = items.slice(from, from + max_items)
    const batch = { kind, items: part.map(itemOf) }
    const results = await patiently(resultsOf, batch, signal).catch((error) =>
      signal?.aborted && isBusy(error) ? null : part.map(() => error as Problem),
    )
    if (!results) {
      outcomes.stopped.push(...items.slice(from))
      break
    }
    for (const [index, item] of part.entries()) {
      const result = results[index]
      if (result instanceof Problem) outcomes.failed.push({ item, problem: result })
      else outcomes.done.push(item)
      if (result === 'unchanged') unchanged.add(item)
    }
    onProgress(from + part.length)
  }
  return outcomes
}

type Batch = { kind: RecordKind; items: BatchItem[] }

/** The status of each item; the problem of one that failed. */
async function resultsOf({ kind, items }: Batch): Promise<(Problem | string)[]> {
  const results = await recordApi(kind).batch(items)
  return results.map(({ status, error }) => {
    if (!error) return status
    const { code, message, ...more } = error as Pick<Problem, 'code' | 'message'> & Partial<Problem>
    const { fields = [], reason = null, facts = {} } = more
    return Object.assign(new Problem(422, code, message), { fields, reason, facts })
  })
}
