import type { Options } from './request.ts'

type Group<Item, Result> = {
  batch(
    body: { atomic?: boolean; items: Item[] },
    query?: { dry_run?: boolean },
    options?: Options,
  ): Promise<{ data: Result[] }>
}

export type BatchOptions = Options & {
  /** True: one failing item fails its batch, and the iterator throws. Earlier batches stay written. Default false. */
  atomic?: boolean
  /** Answers as usual, but writes nothing. */
  dry_run?: boolean
}

const max_items = 1000
// The service takes 8 MiB.
const max_bytes = 7 * 1024 * 1024

/**
 * Sends any number of items in batches of at most 1,000, one after the other, and returns the result of each item in its
 * order. `index` counts over all items. The items may come from a stream.
 */
export async function* inBatches<Item, Result extends { index: number }>(
  group: Group<Item, Result>,
  items: Iterable<Item> | AsyncIterable<Item>,
  { atomic = false, dry_run = false, idempotency_key, ...options }: BatchOptions = {},
): AsyncGenerator<Result> {
  let sent = 0
  for await (const batch of batchesOf(items)) {
    const key = idempotency_key && { idempotency_key: `${idempotency_key}-${sent}` }
    const body = { atomic, items: batch }
    const { data } = await group.batch(body, { dry_run }, { ...options, ...key })
    for (const result of data) yield { ...result, index: sent + result.index }
    sent += batch.length
  }
}

async function* batchesOf<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item[]> {
  const utf8 = new TextEncoder()
  let batch: Item[] = []
  let bytes = 0
  for await (const item of items) {
    const more = utf8.encode(JSON.stringify(item)).length + 1
    if (batch.length === max_items || (batch.length > 0 && bytes + more > max_bytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(item)
    bytes += more
  }
  if (batch.length) yield batch
}
