import { type Db, type Tx, transaction } from '../db/db.ts'

class Tried<T> extends Error {
  readonly result: T
  constructor(result: T) {
    super('The transaction was a dry run.')
    this.result = result
  }
}

/** Runs work in a transaction that is rolled back; returns its result. */
export async function tryOut<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await transaction(
      db,
      async (tx) => {
        throw new Tried(await work(tx))
      },
      { large: true },
    )
  } catch (error) {
    if (error instanceof Tried) return error.result
    throw error
  }
}
