import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { newestRows } from '../db/lists/lists.ts'
import { conflict, notFound } from '../errors.ts'
import { recordChange } from '../events/audit.ts'
import { notifyOfImport } from '../events/notify.ts'
import { row_problems } from '../files/rows.ts'
import { requireScope } from '../http/auth.ts'
import { endpoints } from '../http/endpoints.ts'
import { Single, single } from '../http/envelope.ts'
import { checkMatch } from '../http/etag.ts'
import { ListQuery, NoFields } from '../http/fields.ts'
import { pagesBy } from '../http/lists.ts'
import { operation } from '../http/operation.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import type { Room } from '../resources/room.ts'
import { finishWork } from '../work/run.ts'
import { other_scopes } from './archive.ts'
import { link_codes, readErrors } from './errors.ts'
import { roomsWithImport, writtenRooms } from './rows.ts'
import { Import, ImportParams, Undone } from './schema.ts'
import { withoutReadings } from './source.ts'
import { previewRoute, startRoute } from './start-routes.ts'
import { endedOptions, findImport, type ImportRow, lockImport, optionsOf, shownImports } from './store.ts'
import { beginUndo, undoWork } from './undo.ts'

const path = '/api/v1/imports'
const csv = {
  description: 'The file.',
  content: { 'text/csv': { schema: { type: 'string' } } },
} as unknown as TSchema

/** Imports of files: start, preview, list, read, errors, cancel and undo. */
export async function importRoutes(root: App, service: Service, rooms: readonly Room[]): Promise<void> {
  // Only these routes take bodies that are not JSON. They refuse other types themselves, and name those that they take.
  await root.register(async (scoped) => {
    const app = scoped as unknown as App
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    startRoute(app, service, rooms)
    previewRoute(app, service, rooms)
  })
  readRoutes(root, service, rooms)
  undoRoute(root, service, rooms)
}

function readRoutes(app: App, service: Service, rooms: readonly Room[]): void {
  const { db, rights } = service
  const kind = {
    path,
    params: ImportParams,
    reads: 'imports:read',
    writes: 'imports:write',
    noun: 'import',
  }
  const records = endpoints(app, service, kind)
  const tables = roomsWithImport(rooms).map(({ resource }) => resource.table)
  const readable = ({ access: { scopes } }: FastifyRequest) =>
    [...tables, 'workspace'].filter((resource) =>
      writtenRooms(rooms, resource).every((room) => rights.mayRead(scopes, room.resource.table)),
    )

  records.list(
    {
      summary: 'List imports',
      description: 'Newest first. Only those of kinds that the caller may read.',
      query: ListQuery({}),
      view: Import,
      pages: pagesBy('-id', 'string'),
    },
    async (request, { page }) => {
      const { workspace_id } = request.access
      const all = db
        .selectFrom('imports')
        .selectAll()
        .where('workspace_id', '=', workspace_id)
        .where('status', '<>', 'uploading')
        .where('resource', 'in', ['', ...readable(request)])
      const { records, ...found } = await newestRows(all, 'id', page)
      const shown = await shownImports(db, workspace_id, records)
      return { records: shown.map((one) => ({ ...one, columns: [] })), ...found }
    },
  )
  records.read({ summary: 'Read an import', view: Import }, async (request) => {
    const row = await find(request, request.params.import_id)
    return (await shownImports(db, row.workspace_id, [row]))[0] ?? null
  })
  records.verb(
    {
      name: 'cancel',
      summary: 'Cancel an import',
      description: 'Rows that are imported already stay; undo removes them. 409 if the import has ended.',
      body: NoFields,
      view: Import,
      conflict: true,
    },
    async (tx, context, { request, params, expect }) => {
      const row = await lockImport(tx, context.workspace_id, params.import_id)
      if (!row) throw notFound('This import')
      for (const { resource } of writtenRooms(rooms, row.resource))
        requireScope(request.access, { scope: `${resource.scope}:write` })
      const [before] = await shownImports(tx, context.workspace_id, [row])
      expect(before as object)
      if (row.status !== 'queued' && row.status !== 'running' && row.status !== 'cancelled')
        throw conflict('import_ended', `The import is ${row.status} already. Undo puts back what it changed.`)
      const cancelled = { ...row, status: 'cancelled' as const, finished_at: row.finished_at ?? context.now }
      if (row.status !== 'cancelled') {
        const { status, finished_at } = cancelled
        const source = withoutReadings(row.source)
        await tx
          .updateTable('imports')
          .set({ status, finished_at, source, options: endedOptions(row) })
          .where('id', '=', row.id)
          .execute()
        const { resource, file_name, rows_read } = row
        recordChange(tx, context, {
          action: 'cancelled',
          kind: 'imports',
          record_id: row.id,
          after: { resource, file_name, rows_read },
        })
        notifyOfImport(tx, context, { ...row, is_check: optionsOf(row).dry_run }, 'cancelled')
      }
      const [shown] = await shownImports(tx, context.workspace_id, [cancelled])
      return { record: shown as object }
    },
  )
  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:import_id/errors`,
      scope: 'imports:read',
      summary: 'Read the errors of an import',
      description: `CSV with a row for each problem: the row of the file, the field, the message, the row as it was sent, and the code. The first 10,000 problems. The code is that of the field or the conflict, as in the answer to a single request. Codes of rows that cannot be read: ${row_problems.join(', ')}. Codes of rows that are imported without a link: ${link_codes.join(', ')}. Of a row that was erased: erased. The code is empty for imports of earlier versions.`,
      params: ImportParams,
      answers: { 200: csv },
    },
    async (request, reply) => {
      const row = await find(request, request.params.import_id)
      reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="errors.csv"')
        .header('cache-control', 'no-store')
      return reply.send(request.method === 'HEAD' ? '' : Readable.from(readErrors(db, row)))
    },
  )

  async function find(request: FastifyRequest, id: string): Promise<ImportRow> {
    const row = await findImport(db, request.access.workspace_id, id)
    if (!row) throw notFound('This import')
    for (const { resource } of writtenRooms(rooms, row.resource))
      requireScope(request.access, { scope: `${resource.scope}:read` })
    return row
  }
}

function undoRoute(app: App, { db, clock, write }: Service, rooms: readonly Room[]): void {
  const work = undoWork(rooms)
  operation(
    app,
    {
      method: 'POST',
      path: `${path}/:import_id/undo`,
      scope: 'imports:write',
      summary: 'Undo an import',
      description:
        'Moves what it made to the trash, and puts back what it changed, where nobody changed it since. Also needs the write scope of all kinds that it wrote. It continues after a crash. 409 before the import has ended.',
      params: ImportParams,
      body: NoFields,
      answers: { 200: Single(Undone) },
      guarded: true,
      answers_no_record: true,
      repeatable: true,
      conflict: true,
    },
    (request, reply) =>
      write.inSteps(request, reply, {
        async before(tx, context) {
          const { workspace_id, actor, request_id } = context
          const row = await lockImport(tx, workspace_id, request.params.import_id)
          if (!row) throw notFound('This import')
          for (const table of await kindsOf(row))
            requireScope(request.access, { scope: `${scopeOf(table)}:write` })
          // An undo that has begun continues.
          const [shown] = row.status === 'undone' ? [] : await shownImports(tx, workspace_id, [row])
          if (shown) checkMatch(request, shown)
          if (row.status === 'queued' || row.status === 'running')
            throw conflict('import_running', 'The import has not ended. Cancel it first.')
          if (optionsOf(row).dry_run)
            throw conflict('import_dry_run', 'The import was a dry run: there is nothing to undo.')
          await beginUndo(tx, context, row)
          return { workspace_id, subject: row.id, who: { actor, request_id, traceparent: null } }
        },
        meanwhile: (begun, stopping) => finishWork({ db, clock }, work, begun, stopping),
        async after(tx, _context, { workspace_id, subject }) {
          const row = await findImport(tx, workspace_id, subject)
          if (!row) throw notFound('This import')
          return { body: single({ restored: row.restored, left: JSON.parse(row.not_restored ?? '[]') }) }
        },
      }),
  )

  const scopeOf = (table: string) =>
    other_scopes[table] ?? rooms.find(({ resource }) => resource.table === table)?.resource.scope

  async function kindsOf({ workspace_id, id, resource }: ImportRow): Promise<string[]> {
    const rows = await db
      .selectFrom('import_changes')
      .select('kind')
      .distinct()
      .where((eb) => eb.and({ workspace_id, import_id: id }))
      .execute()
    const own = writtenRooms(rooms, resource).map((room) => room.resource.table)
    return [...new Set([...own, ...rows.map(({ kind }) => kind)])]
  }
}
