import { sql } from 'kysely'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { countRows } from '../db/lists/counts.ts'
import { lockInstallation } from '../db/locks.ts'
import type { Tables } from '../db/tables.ts'
import { engineOf } from '../db/tx.ts'
import type { Resource } from '../resources/resource.ts'
import { dropIndexes } from './indexes.ts'
import { continueAfter, lastNumber } from './numbers.ts'
import { createSum, readPages, type Sum, writePage } from './pages.ts'
import { columnsOf, filledTables, type StoredColumns, type Table, tablesOf } from './tables.ts'

/** The progress of one table: `rows` of `total` were copied, or read back. */
export type Progress = { step: 'copy' | 'check'; table: string; rows: number; total: number }

/** The result for one table: `counted` and `read` on the source, `written` on the target. */
export type Copied = { table: string; counted: number; read: Sum; written: Sum; same: boolean }

type Options = {
  /** All resources: their tables are copied with the others. */
  resources: readonly Resource[]
  onStart(totals: Map<string, number>): void
  onProgress(progress: Progress): void
}

/** The copy differs from the source, and was rolled back. */
export class Different extends Error {
  readonly tables: Copied[]
  constructor(tables: Copied[]) {
    super('The copy differs from its source. It was undone: nothing was changed.')
    this.tables = tables
  }
}

/**
 * Copies every row of a migrated database into an empty one, reads the rows back, and compares them. One transaction of
 * the target does all of it. Ids and the next id of each table stay the same. Throws `Different` if a count or a
 * checksum differs, and an error if the target has rows, or if somebody writes to the source during the copy.
 */
export async function copyInstallation(source: Db, target: Db, options: Options): Promise<Copied[]> {
  const tables = tablesOf(options.resources)
  const before = await lastNumbers(source, tables)
  // On SQLite the transaction also keeps other writers out. The source is idle while the target writes, so the timeouts of
  // the service do not apply here.
  return source.transaction().execute(async (from) => {
    if (engineOf(from) === 'postgres') {
      await sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`.execute(from)
      await liftLimits(from)
    }
    return transaction(target, async (to) => {
      // A server that starts on the target waits for this lock, and then finds an installation.
      await lockInstallation(to)
      if (engineOf(to) === 'postgres') {
        await liftLimits(to)
        // Each table's indexes are built at its end. More memory saves most of the time of the large ones.
        await sql`SET LOCAL maintenance_work_mem = '256MB'`.execute(to)
      }
      await clearSettings(to, tables)
      const copied = await copyTables(from, to, tables, options)
      // On PostgreSQL, a server can write during the copy. The copy has the state at its start.
      if (before !== (await lastNumbers(source, tables)))
        throw new Error(
          'A server wrote to the source during the copy. The copy was undone. Stop every server, and run it again.',
        )
      return copied
    })
  })
}

// Each change of a record writes an event, which has a number.
async function lastNumbers(db: Db, tables: readonly Table[]): Promise<string> {
  const numbers: (number | null)[] = []
  for (const table of tables) numbers.push(await lastNumber(db, table))
  return numbers.join(' ')
}

async function liftLimits(tx: Db) {
  await sql`SET LOCAL statement_timeout = 0`.execute(tx)
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx)
}

// Settings alone are not an installation: a process that only delivers stores a check of its secret key there.
async function clearSettings(to: Tx, tables: readonly Table[]) {
  const filled = (await filledTables(to, tables)).filter((table) => table !== 'settings')
  if (filled.length)
    throw new Error(
      `The target has rows already (in ${filled.join(', ')}), and nothing was changed. Give an empty database.`,
    )
  await sql`DELETE FROM settings`.execute(to)
}

async function copyTables(
  from: Db,
  to: Tx,
  tables: readonly Table[],
  { onStart, onProgress }: Options,
): Promise<Copied[]> {
  const totals = new Map<string, number>()
  for (const { name } of tables) totals.set(name, await countRows(from.selectFrom(name as keyof Tables)))
  onStart(totals)
  const totalOf = (name: string) => totals.get(name) ?? 0

  const read = new Map<string, Sum>()
  for (const table of tables) {
    const { name } = table
    const columns = await columnsOf(to, name)
    const report = (rows: number) => onProgress({ step: 'copy', table: name, rows, total: totalOf(name) })
    read.set(name, await copyTable(from, to, table, columns, report))
    const last = await lastNumber(from, table)
    if (last !== null) await continueAfter(to, table, last)
  }

  const copied: Copied[] = []
  for (const table of tables) {
    const { name } = table
    const sum = createSum()
    for await (const page of readPages(to, table, await columnsOf(to, name))) {
      sum.add(page)
      onProgress({ step: 'check', table: name, rows: sum.result().rows, total: totalOf(name) })
    }
    const [before, written] = [read.get(name) as Sum, sum.result()]
    const counted = totalOf(name)
    const same =
      counted === written.rows && before.rows === written.rows && before.checksum === written.checksum
    copied.push({ table: name, counted, read: before, written, same })
  }
  if (copied.some(({ same }) => !same)) throw new Different(copied)
  return copied
}

async function copyTable(
  from: Db,
  to: Tx,
  table: Table,
  columns: StoredColumns,
  report: (rows: number) => void,
): Promise<Sum> {
  const sum = createSum()
  const makeIndexes = await dropIndexes(to, table.name)
  let writing: Promise<void> = Promise.resolve()
  for await (const page of readPages(from, table, columns)) {
    await writing
    writing = writePage(to, table, columns, page)
    // Read the next page during this write. The next await of the write throws its error.
    writing.catch(() => {})
    sum.add(page)
    report(sum.result().rows)
  }
  await writing
  await makeIndexes()
  return sum.result()
}
