import { day_ms, isoTime } from '../../clock.ts'
import { readPage } from '../../db/lists/lists.ts'
import { notFound } from '../../errors.ts'
import { requireScope } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import { Deleted } from '../../http/envelope.ts'
import { refuseMatch } from '../../http/etag.ts'
import { acceptedCodes } from '../../http/filter-parameters.ts'
import { pagesBy } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { byDependency } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { beginErasure, eraseRecord } from '../erasure/erasure.ts'
import { countTrash, listTrash, type Trashed, type TrashPosition } from './list.ts'
import { TrashParams, trashSchemas } from './schema.ts'

const path = '/api/v1/trash'

/** The trash: lists soft-deleted records, and erases one at once. */
export function trashRoutes(app: App, service: Service): void {
  const { reading, config, resources, rights } = service
  const all = byDependency(resources)
  const tables = all.map(({ table }) => table)
  const { TrashedRecord, TrashQuery } = trashSchemas(all)
  const owner_fields = new Map<string, string | undefined>(
    all.map(({ table, part_of }) => [table, part_of?.by]),
  )
  const shownAs = ({ part_of_id, ...record }: Trashed) => ({
    ...record,
    contact_id: null,
    ...(part_of_id !== null && { [owner_fields.get(record.kind) ?? '']: part_of_id }),
    removed_at: isoTime(Date.parse(record.deleted_at) + config.trash_days * day_ms),
  })

  endpoints(app, service, { path, reads: 'trash:read', noun: 'record' }).list(
    {
      summary: 'List the trash',
      description:
        'Latest deletion first. Only kinds that the caller may read. Notes of a deleted contact are not listed, because they are restored with it.',
      query: TrashQuery,
      view: TrashedRecord,
      pages: pagesBy('-deleted_at', 'string', 'string', 'number'),
    },
    async ({ access: { workspace_id, scopes }, query: { kind } }, { page }) => {
      const kinds = acceptedCodes('kind', tables, kind) ?? tables
      const shown = all.filter(({ table }) => kinds.includes(table) && rights.mayRead(scopes, table))
      const { records, ...found } = await reading((db) =>
        readPage(
          page,
          () => countTrash(db, workspace_id, shown),
          ({ after, ...window }) =>
            listTrash(db, workspace_id, shown, { ...window, after: positionOf(after) }),
          ({ deleted_at, kind, id }) => [deleted_at, kind, id],
        ),
      )
      return { records: records.map(shownAs), ...found }
    },
  )

  eraseRoute(app, service, all)
}

function eraseRoute(app: App, { db, write, seal, resources }: Service, all: readonly Resource[]): void {
  operation(
    app,
    {
      method: 'DELETE',
      path: `${path}/:kind/:id`,
      scope: 'trash:write',
      id: 'eraseRecord',
      summary: 'Erase a record of the trash at once',
      description:
        'Also needs the scope that writes its kind. Removes its row, and its data in the audit log, the events and the delivery log. For a contact, also removes the copies of its data in records that refer to it. Pending deliveries are sent with the remaining data.',
      params: TrashParams,
      answers: { 200: Deleted },
      guarded: true,
    },
    (request, reply) => {
      const { kind, id } = request.params
      const resource = all.find(({ table }) => table === kind)
      if (!resource) throw notFound('This record')
      const { noun, scope } = resource
      requireScope(request.access, { scope: `${scope}:write` })
      return write.inSteps(request, reply, {
        async before(tx, context) {
          const ids = await beginErasure(tx, context.workspace_id, resource, id)
          if (!ids.length) throw notFound(`This ${noun}`)
          refuseMatch(request)
          return { context, ids }
        },
        // An erasure takes several transactions. The trash job completes an interrupted one.
        async meanwhile({ context, ids }, stopping) {
          for (const one of ids) await eraseRecord({ db, seal, resources, stopping }, context, resource, one)
        },
        after: async () => ({
          body: { success: true as const, message: `The ${noun} was erased.` },
        }),
      })
    },
  )
}

function positionOf(parts: readonly unknown[] | null): TrashPosition | null {
  if (!parts) return null
  const [deleted_at, kind, id] = parts
  return { deleted_at: String(deleted_at), kind: String(kind), id: Number(id) }
}
