import { type Selectable, sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import { rowLock, tryLockText } from '../db/locks.ts'
import { createPace } from '../db/pace.ts'
import { prepare } from '../db/statements/prepare.ts'
import type { ImportsTable } from '../db/tables.ts'
import { actorOf, namedActors } from '../events/actors.ts'
import { readRows } from '../files/read-rows.ts'
import type { FileForm, FileRow } from '../files/rows.ts'
import { readSheet } from '../files/sheet-rows.ts'
import { type FileBytes, openWorkbook } from '../files/workbook.ts'
import { type ColumnAccount, shownColumn } from './account.ts'
import type { Import, ImportOptions } from './schema.ts'

export type ImportRow = Selectable<ImportsTable>

/** How long a process keeps an import without a commit. Then another process continues it. */
export const lease_ms = 10_000

/** The options of an import. Imports of earlier versions lack some, and replaced tags. */
export const optionsOf = (row: Pick<ImportRow, 'options'>): ImportOptions => ({
  program: null,
  time_zone: 'UTC',
  tags: 'replace',
  bad_cells: 'fail',
  cells: {},
  ...JSON.parse(row.options),
})
/** The stored options of an import that has ended. Its cells may be about a person, whom an erasure does not find here. */
export const endedOptions = (row: Pick<ImportRow, 'options'>): string =>
  JSON.stringify({ ...optionsOf(row), cells: {} })
export const formOf = (row: Pick<ImportRow, 'form'>): FileForm => JSON.parse(row.form as string)

/** An import of the workspace whose file has arrived, or null. */
export async function findImport(db: Db, workspace_id: number, id: string): Promise<ImportRow | null> {
  const row = await db
    .selectFrom('imports')
    .selectAll()
    .where((eb) => eb.and({ workspace_id, id }))
    .where('status', '<>', 'uploading')
    .executeTakeFirst()
  return row ?? null
}

/** Like findImport, but locks the import until the end of the transaction. */
export async function lockImport(tx: Tx, workspace_id: number, id: string): Promise<ImportRow | null> {
  const lock = rowLock(tx, 'FOR UPDATE')
  await sql`SELECT 1 FROM imports WHERE workspace_id = ${workspace_id} AND id = ${id} ${lock}`.execute(tx)
  return findImport(tx, workspace_id, id)
}

/** How the file of an import is read. */
function shownForm(row: ImportRow): Pick<Import, 'file_type' | 'encoding' | 'sheet' | 'header_row'> {
  const form = formOf(row)
  const file_type = row.resource === 'workspace' ? 'archive' : form.format
  if (form.format === 'xlsx')
    return { file_type, encoding: null, sheet: form.sheet, header_row: form.header_row }
  const header_row = form.format === 'csv' ? (form.header_row ?? 1) : null
  return { file_type, encoding: form.encoding, sheet: null, header_row }
}

/** Imports as answers show them. */
export async function shownImports(
  db: Db,
  workspace_id: number,
  rows: readonly ImportRow[],
): Promise<Import[]> {
  const actors = await namedActors(
    db,
    workspace_id,
    rows.map(({ created_by }) => actorOf(created_by)),
  )
  return rows.map((row, n) => {
    const { makes: _, cells: __, ...options } = optionsOf(row)
    const { id, resource, file_name, rows_read, created, updated, skipped, failed, errors, message } = row
    const { created_at, started_at, finished_at } = row
    const status = row.status as Import['status']
    const kinds: Import['kinds'] = JSON.parse(row.kinds)
    const counts = { rows_read, created, updated, skipped, failed, kinds, errors }
    const progress = status === 'succeeded' || status === 'undone' ? 1 : row.progress
    const times = { created_at, started_at, finished_at }
    const created_by = actors[n] as Import['created_by']
    const source: { program: string | null } | null = row.source === null ? null : JSON.parse(row.source)
    const program = source?.program ?? null
    const columns = (JSON.parse(row.account) as ColumnAccount[]).map(shownColumn)
    const result = { ...shownForm(row), program, columns, message }
    return { id, resource, status, file_name, options, progress, ...counts, ...result, ...times, created_by }
  })
}

/** Thrown when another process has the import, or somebody cancelled it. */
export class Lost extends Error {}

/** Ends an import as failed. Its message is for the members who see the import. */
export class AccessEnded extends Error {}

/**
 * Claims the next import that waits, or whose process has ended; null without one. A workspace has one running import
 * at a time, also while the process of that one has ended. `busy` while another process claims one: try again.
 */
export const claimImport = (db: Db, elapsed_ms: number, now: string): Promise<ImportRow | 'busy' | null> =>
  transaction(db, async (tx) => {
    // The lock prevents concurrent claims of two imports of one workspace.
    if (!(await tryLockText(tx, 'imports', 0, 'claim'))) return 'busy'
    const skip = rowLock(tx, 'FOR UPDATE SKIP LOCKED')
    const { rows } = await sql<ImportRow>`UPDATE imports
      SET status = 'running', claim_id = ${newId('clm')}, claims = claims + 1,
        lease_ends_ms = ${elapsed_ms + lease_ms}, started_at = coalesce(started_at, ${now})
      WHERE id = (
        SELECT id FROM imports AS due
        WHERE status IN ('queued', 'running') AND lease_ends_ms <= ${elapsed_ms}
          AND (status = 'running' OR NOT EXISTS (
            SELECT 1 FROM imports AS other
            WHERE other.workspace_id = due.workspace_id AND other.status = 'running'))
        ORDER BY id LIMIT 1 ${skip})
      RETURNING *`.execute(tx)
    return rows[0] ?? null
  })

/** Checks in a transaction that this process still has the import, and locks it. Throws Lost. */
export async function holdLease(tx: Tx, { id, claim_id }: ImportRow, elapsed_ms: number): Promise<void> {
  const { numAffectedRows } = await sql`UPDATE imports SET lease_ends_ms = ${elapsed_ms + lease_ms}
    WHERE id = ${id} AND claim_id = ${claim_id} AND status = 'running'`.execute(tx)
  if (!numAffectedRows) throw new Lost()
}

/**
 * The same before rows are written. Throws AccessEnded if the person who started the import has left the workspace, or the
 * key was revoked or has expired. On PostgreSQL, the removal of a member waits for the rows: new records would belong to them.
 */
export async function holdImport(tx: Tx, row: ImportRow, clock: Clock): Promise<void> {
  await holdLease(tx, row, clock.elapsed())
  const { workspace_id } = row
  const { kind, id } = actorOf(row.created_by)
  if (id === null) return
  if (kind === 'person' && !(await holdMember(tx, workspace_id, id)))
    throw new AccessEnded(
      'The import stopped: the person who started it has left the workspace. The imported rows are kept.',
    )
  const end = kind === 'key' ? await endOfKey(tx, workspace_id, id, isoTime(clock.now())) : null
  if (end)
    throw new AccessEnded(
      `The import stopped: the API key that started it ${end}. The imported rows are kept.`,
    )
}

async function holdMember(tx: Tx, workspace_id: number, id: string): Promise<boolean> {
  const lock = rowLock(tx, 'FOR KEY SHARE')
  const { rows } = await sql`SELECT 1 FROM memberships
    WHERE workspace_id = ${workspace_id} AND user_id = ${id} ${lock}`.execute(tx)
  return rows.length > 0
}

// The key's row is not locked, because each request with the key updates it.
async function endOfKey(tx: Tx, workspace_id: number, id: string, now: string): Promise<string | null> {
  const { rows } = await sql<{ expires_at: string | null }>`SELECT expires_at FROM api_keys
    WHERE workspace_id = ${workspace_id} AND id = ${id} AND revoked_at IS NULL`.execute(tx)
  const [live] = rows
  if (!live) return 'was revoked'
  return live.expires_at !== null && live.expires_at <= now ? 'has expired' : null
}

/** Ends the lease of an import when this process stops, so that another process continues it at once. */
export const releaseImport = (db: Db, { id, claim_id }: ImportRow, elapsed_ms: number): Promise<void> =>
  transaction(db, async (tx) => {
    await sql`UPDATE imports SET lease_ends_ms = ${elapsed_ms}, claims = 0
      WHERE id = ${id} AND claim_id = ${claim_id} AND status = 'running'`.execute(tx)
  })

/** Makes the next claim the first one again, when the lease has ended. */
export const forgetClaims = (db: Db, { id, claim_id }: ImportRow): Promise<void> =>
  transaction(db, async (tx) => {
    await sql`UPDATE imports SET claims = 0 WHERE id = ${id} AND claim_id = ${claim_id}`.execute(tx)
  })

/** Ends the leases of all uploads and imports: the processes that had them have ended. */
export async function releaseImports(tx: Tx, elapsed_ms: number): Promise<void> {
  await sql`UPDATE imports SET lease_ends_ms = ${elapsed_ms}
    WHERE status IN ('uploading', 'running') AND lease_ends_ms > ${elapsed_ms}`.execute(tx)
}

const chunk = prepare((p: { workspace_id: number; import_id: string; number: number }, db) =>
  db
    .selectFrom('import_chunks')
    .select('content')
    .where((eb) => eb.and({ workspace_id: p.workspace_id, import_id: p.import_id, number: p.number })),
)

/** The size of all chunks of a file, except its last one. The longest header fits into it, in any encoding. */
export const chunk_bytes = 1024 * 1024
// A part is parsed at once, so a larger one would block the event loop.
const part_bytes = 32 * 1024

/** A running import, and the clock of its lease. */
type Held = { db: Db; clock: Clock; row: ImportRow }

/**
 * Yields the same parts. Between them, it lets other work of this process run, and renews the lease of the import: a
 * continued import reads the rows before its position without a commit. Throws Lost.
 */
export async function* keepLease<T>({ db, clock, row }: Held, parts: AsyncIterable<T>): AsyncGenerator<T> {
  const pace = createPace()
  for await (const part of parts) {
    await pace()
    const now_ms = clock.elapsed()
    if (row.lease_ends_ms - now_ms < (lease_ms * 3) / 4) {
      await transaction(db, (tx) => holdLease(tx, row, now_ms))
      row.lease_ends_ms = now_ms + lease_ms
    }
    yield part
  }
}

/** The number of this pass, if a file is read several times. */
type Pass = { pass: number; of: number }

/** Reads the file of an import in parts. Renews the lease, and sets `progress` of the row. Throws Lost. */
export const readFile = (held: Held, pass: Pass = { pass: 0, of: 1 }): AsyncGenerator<Buffer> =>
  keepLease(held, storedParts(held, pass))

async function* storedParts({ db, row }: Held, { pass, of }: Pass): AsyncGenerator<Buffer> {
  const { workspace_id, id, chunks } = row
  for (let number = 0; number < chunks; number++) {
    const [stored] = await chunk(db, { workspace_id, import_id: id, number })
    if (!stored) throw new Lost()
    const content = Buffer.from(stored.content.buffer, stored.content.byteOffset, stored.content.byteLength)
    for (let from = 0; from < content.length; from += part_bytes) {
      const part = content.subarray(from, from + part_bytes)
      row.progress = (pass + (number + (from + part.length) / content.length) / chunks) / of
      yield part
    }
  }
}

type File = Pick<ImportRow, 'workspace_id' | 'id'>

/** A stored file of which any part can be read. */
export function storedBytes(db: Db, { workspace_id, id }: File, size: number): FileBytes {
  async function* read(from: number, to: number) {
    for (let at = from; at < to; ) {
      const number = Math.floor(at / chunk_bytes)
      const [stored] = await chunk(db, { workspace_id, import_id: id, number })
      if (!stored) throw new Lost()
      const { buffer, byteOffset, byteLength } = stored.content
      const end = Math.min(to - number * chunk_bytes, byteLength)
      const start = at - number * chunk_bytes
      yield Buffer.from(buffer, byteOffset + start, end - start)
      at = number * chunk_bytes + end
    }
  }
  return { size, read }
}

/** The rows of a running import with a number above `after`. Renews the lease, and sets `progress`. Throws Lost, FileError. */
export async function* readFileRows(held: Held, after = 0): AsyncGenerator<FileRow[]> {
  const { db, row } = held
  const form = formOf(row)
  if (form.format !== 'xlsx') return yield* keepLease(held, readRows(readFile(held), form, after))
  const workbook = await openWorkbook(storedBytes(db, row, form.bytes), form.sheet)
  const onShare = (share: number) => {
    row.progress = share
  }
  yield* keepLease(held, readSheet(workbook, form, after, onShare))
}

// A chunk has up to 1 MiB, which SQLite removes page by page.
const chunks_at_once = 4

/** Removes the file of an import that has ended. */
export async function removeFile(db: Db, { workspace_id, id }: Pick<ImportRow, 'workspace_id' | 'id'>) {
  for (;;) {
    const removed = await transaction(db, async (tx) => {
      const { numAffectedRows } = await sql`DELETE FROM import_chunks
        WHERE workspace_id = ${workspace_id} AND import_id = ${id} AND number IN (
          SELECT number FROM import_chunks WHERE workspace_id = ${workspace_id} AND import_id = ${id}
          ORDER BY number LIMIT ${chunks_at_once})`.execute(tx)
      return Number(numAffectedRows)
    })
    if (removed < chunks_at_once) return
  }
}
