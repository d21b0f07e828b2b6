import type { Tx } from '../db/db.ts'
import type { Context } from '../events/context.ts'
import { runBatch } from '../resources/batch/batch.ts'
import {
  type BatchOptions,
  type Item,
  type Outcome,
  sharedKeys,
  type Writes,
} from '../resources/batch/items.ts'
import type { Running } from './rows.ts'
import type { ImportOptions } from './schema.ts'

// A check takes back each of its transactions. So that a row finds the records of earlier rows, as in the import, those that
// share a key with it run before it.

// Beyond these characters of rows, a check forgets earlier rows, and counts some records twice.
const max_characters = 32 * 1024 * 1024
// The rows that run before a part of 500.
const max_rows = 1000

type Earlier = { number: number; item: string }
type Data = { tags?: string[]; custom_fields?: object }

/** The earlier rows of a check by the keys that other rows may have: the matched value, and unique custom fields. */
export function createEarlierRows({ tags }: Pick<ImportOptions, 'tags'>) {
  const by_key = new Map<string, Set<Earlier>>()
  const by_keys = new Map<string, Earlier>()
  let characters = 0
  let count = 0
  return {
    /** The rows with one of the keys, in their order. */
    of(keys: readonly string[]): Earlier[] {
      const found = new Set(keys.flatMap((key) => [...(by_key.get(key) ?? [])]))
      return [...found].sort((a, b) => a.number - b.number).slice(-max_rows)
    },
    add(keys: readonly string[], item: Item): void {
      if (!keys.length) return
      const same = by_keys.get(JSON.stringify(keys))
      const item_text = JSON.stringify(same ? joined(JSON.parse(same.item), item, tags) : item)
      characters += item_text.length - (same?.item.length ?? 0)
      if (same) Object.assign(same, { number: count++, item: item_text })
      if (same || characters > max_characters) return
      const earlier = { number: count++, item: item_text }
      by_keys.set(JSON.stringify(keys), earlier)
      for (const key of keys) by_key.set(key, (by_key.get(key) ?? new Set()).add(earlier))
    },
  }
}

/** The values that two rows of a record write together. So a record of many rows is written once. */
function joined(first: Item, second: Item, choice: ImportOptions['tags']): Item {
  const [before, after] = [first.data as Data, second.data as Data]
  const tags = choice === 'add' ? [...(before.tags ?? []), ...(after.tags ?? [])] : []
  const custom_fields = { ...before.custom_fields, ...after.custom_fields }
  return { ...second, data: { ...before, ...after, ...(tags.length && { tags }), custom_fields } }
}

export type EarlierRows = ReturnType<typeof createEarlierRows>

/** Runs the earlier rows that share a key with the items, except those that ran in this transaction. */
export async function runEarlier(
  tx: Tx,
  { earlier, definitions }: Running,
  context: Context,
  writes: Writes,
  items: readonly Item[],
  given: BatchOptions,
  ran: Set<number>,
): Promise<void> {
  const keys = items.flatMap((item) => sharedKeys(writes, definitions, item))
  const missing = earlier.of(keys).filter(({ number }) => !ran.has(number))
  for (const { number } of missing) ran.add(number)
  if (!missing.length) return
  const parsed = missing.map(({ item }): Item => JSON.parse(item))
  await runBatch(tx, context, writes, parsed, { ...given, one_by_one: true })
}

/** Keeps the rows of a check that made or changed a record. */
export function keepEarlier(
  { earlier, definitions }: Running,
  writes: Writes,
  items: readonly Item[],
  outcomes: readonly Outcome[],
): void {
  for (const [n, item] of items.entries()) {
    const status = outcomes[n]?.status
    if (status === 'created' || status === 'updated') earlier.add(sharedKeys(writes, definitions, item), item)
  }
}
