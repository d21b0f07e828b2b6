import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import { lockEntry } from '../db/locks.ts'
import { refuseMore } from '../errors.ts'
import { storedActor } from '../events/actors.ts'
import type { Context } from '../events/context.ts'
import type { FileForm } from '../files/rows.ts'
import type { ImportOptions } from './schema.ts'
import { findImport, type ImportRow, removeFile } from './store.ts'
import { changeUpload, upload_lease_ms } from './upload.ts'

const max_waiting = 10

type New = { resource: string; options: ImportOptions; file_name: string | null }

/** Adds an import that no answer shows until its file has arrived. Returns its id. Throws 409 while too many wait. */
export function beginImport(
  db: Db,
  clock: Clock,
  { access, id: request_id }: FastifyRequest,
  { resource, options, file_name }: New,
): Promise<string> {
  const { workspace_id, actor } = access
  return transaction(db, async (tx) => {
    // The lock makes concurrent uploads count each other.
    await lockEntry(tx, 'workspaces', workspace_id)
    const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM imports
      WHERE workspace_id = ${workspace_id} AND (status IN ('queued', 'running')
        OR status = 'uploading' AND lease_ends_ms > ${clock.elapsed()})`.execute(tx)
    refuseMore(
      'too_many_imports',
      Number(rows[0]?.n),
      max_waiting,
      `At most ${max_waiting} imports can wait`,
      'Wait for one to end, or cancel one.',
    )
    const id = newId('imp')
    await tx
      .insertInto('imports')
      .values({
        id,
        workspace_id,
        resource,
        status: 'uploading',
        file_name,
        options: JSON.stringify(options),
        form: null,
        message: null,
        created_by: storedActor(actor),
        request_id,
        created_at: isoTime(clock.now()),
        started_at: null,
        finished_at: null,
        claim_id: null,
        lease_ends_ms: clock.elapsed() + upload_lease_ms,
        not_restored: null,
        source: null,
      })
      .execute()
    return id
  })
}

/** Queues an import whose file is complete. */
export async function queueImport(
  tx: Tx,
  { workspace_id, elapsed }: Context,
  id: string,
  { form, chunks }: { form: FileForm; chunks: number },
): Promise<ImportRow> {
  const now_ms = elapsed()
  const queued = { status: 'queued', form: JSON.stringify(form), chunks, lease_ends_ms: now_ms } as const
  await changeUpload(tx, { workspace_id, id }, now_ms, queued)
  tx.announce('imports')
  return (await findImport(tx, workspace_id, id)) as ImportRow
}

/** Removes an upload that was not queued: it broke off, or repeated an earlier request. */
export async function dropUpload(db: Db, workspace_id: number, id: string): Promise<void> {
  const row = await db.selectFrom('imports').select('status').where('id', '=', id).executeTakeFirst()
  if (row?.status !== 'uploading') return
  await removeFile(db, { workspace_id, id })
  await transaction(db, async (tx) => {
    await tx
      .deleteFrom('imports')
      .where((eb) => eb.and({ id, status: 'uploading' }))
      .execute()
  })
}
