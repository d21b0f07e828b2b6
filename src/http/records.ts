import type { TSchema } from 'typebox'
import type { Db } from '../db/db.ts'
import type { Tables } from '../db/tables.ts'
import type { EventDefinition } from '../events/define.ts'
import { emit } from '../events/emit.ts'
import { Deleted, deleted, Single } from './envelope.ts'
import { notFound } from './errors.ts'
import { checkMatch, sendRecord } from './etag.ts'
import { IdParams } from './fields.ts'
import type { App } from './server.ts'
import type { Writer } from './write.ts'

type Deletable = 'companies' | 'contacts' | 'deals'

type Resource = {
  path: string
  /** The table, and the name in the scopes. */
  table: Deletable
  noun: string
  /** Whether reading and deleting go beyond the base interface; restoring always does. */
  extension?: boolean
  view: TSchema
  find(db: Db, workspace_id: number, id: number): Promise<object | null>
  /** Into the trash (a time), or back (null). */
  move(tx: Db, workspace_id: number, id: number, now: string, deleted_at: string | null): Promise<void>
  deleted: EventDefinition
  restored: EventDefinition
}

/** What every resource does alike: reading one record, moving it to the trash, and bringing it back. */
export function recordRoutes(app: App, { db, write }: { db: Db; write: Writer }, resource: Resource): void {
  const { path, table, noun, view, find, move } = resource
  const marks = { params: IdParams, ...(resource.extension && { 'x-extension': true }) }

  async function existing(handle: Db, workspace_id: number, id: number): Promise<object> {
    const record = await find(handle, workspace_id, id)
    if (!record) throw notFound(`This ${noun}`)
    return record
  }

  app.get(
    `${path}/:id`,
    {
      config: { scope: `${table}:read` },
      schema: { ...marks, summary: `Read a ${noun}`, response: { 200: Single(view) } },
    },
    async (request, reply) =>
      sendRecord(request, reply, await existing(db, request.access.workspace_id, request.params.id)),
  )

  app.delete(
    `${path}/:id`,
    {
      config: { scope: `${table}:write` },
      schema: { ...marks, summary: `Move a ${noun} to the trash`, response: { 200: Deleted } },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id, now } = context
        const { id } = request.params
        const record = await existing(tx, workspace_id, id)
        checkMatch(request, record)
        await move(tx, workspace_id, id, now, now)
        await emit(tx, context, resource.deleted, record)
        return { body: deleted(`The ${noun}`) }
      }),
  )

  app.post(
    `${path}/:id/restore`,
    {
      config: { scope: `${table}:write` },
      schema: {
        ...marks,
        'x-extension': true,
        summary: `Restore a ${noun} from the trash`,
        response: { 200: Single(view) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id, now } = context
        const { id } = request.params
        const live = await find(tx, workspace_id, id)
        if (live) {
          checkMatch(request, live)
          return { record: live }
        }
        const deleted_at = await deletedAt(tx, table, workspace_id, id)
        if (!deleted_at) throw notFound(`This ${noun}`)
        await move(tx, workspace_id, id, now, null)
        const record = await existing(tx, workspace_id, id)
        await emit(tx, context, resource.restored, record, {
          changed_fields: ['deleted_at'],
          previous: { deleted_at },
        })
        return { record }
      }),
  )
}

// When a record was moved to the trash; null when it is live or unknown.
async function deletedAt(tx: Db, table: Deletable, workspace_id: number, id: number): Promise<string | null> {
  const row = await tx
    .selectFrom(table as keyof Pick<Tables, 'companies'>)
    .select('deleted_at')
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.deleted_at ?? null
}
