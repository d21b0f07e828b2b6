import type { CompiledQuery, Driver, QueryResult } from 'kysely'

type Read = (sql: string, parameters: readonly unknown[]) => unknown[] | Promise<unknown[]>

/** The driver of a dialect with one connection, which only reads. `refusal` is the message of a transaction. */
export function readingDriver(read: Read, refusal: string): Driver {
  const connection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery) => ({
      rows: (await read(sql, parameters)) as R[],
    }),
    streamQuery: refuseStream,
  }
  const refuse = async () => {
    throw new Error(refusal)
  }
  return {
    async init() {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    async releaseConnection() {},
    async destroy() {},
  }
}

// biome-ignore lint/correctness/useYield: the interface requires a generator, but streaming is not supported
export async function* refuseStream<R>(): AsyncIterableIterator<QueryResult<R>> {
  throw new Error('Streaming is not supported.')
}
