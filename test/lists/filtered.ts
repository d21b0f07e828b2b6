import assert from 'node:assert/strict'
import type { Browser } from '../people.ts'

// biome-ignore lint/suspicious/noExplicitAny: a record as JSON
export type Item = Record<string, any>

/** A value as a filter takes it: a comma and an exclamation mark get a backslash. */
export const written = (value: unknown) => String(value).replaceAll(/[,!]/g, '\\$&')

/** Reads and makes records as a person, and checks that the pages of a list agree. */
export function readerOf(person: () => Browser) {
  const ok = async (method: string, path: string, body?: object) => {
    const reply = await person()(method, path, body)
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
    return reply.body
  }
  const make = async (kind: string, body: object): Promise<Item> => (await ok('POST', `/${kind}`, body)).data

  /** The ids that a list finds, by pages with the total, and by cursor. */
  async function listed(kind: string, query: string): Promise<number[]> {
    const ids: number[] = []
    for (let page = 1; ; page++) {
      const { data, meta } = await ok('GET', `/${kind}?${query}&per_page=7&page=${page}`)
      ids.push(...data.map(({ id }: Item) => id))
      if (page < meta.last_page) continue
      assert.equal(meta.total, ids.length, `${kind}?${query}`)
      break
    }
    const by_cursor: number[] = []
    for (let cursor: string | null = 'start'; cursor !== null; ) {
      const { data, meta }: Item = await ok('GET', `/${kind}?${query}&per_page=7&cursor=${cursor}`)
      by_cursor.push(...data.map(({ id }: Item) => id))
      cursor = meta.next_cursor
    }
    assert.deepEqual(by_cursor, ids, `${kind}?${query}`)
    return ids
  }
  return { ok, make, listed }
}
